"""PATIENCE multiplies all time limits, which suit an idle host, so that they also suit a busy one. A passing test reaches no limit."""
PATIENCE = 4
