"""Ways to a survey: its link as a QR code and on a sheet of paper, and in a frame of somebody's page."""
