"""The pages on which a researcher writes a questionnaire, sees what will come of it, tries it and opens it."""
