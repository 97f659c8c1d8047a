"""One of several mechanisms for each person, by a public deal: everybody answers one part of what is asked."""
