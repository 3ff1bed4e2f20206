"""PATIENCE multiplies all time limits. A limit alone suits an idle host, and PATIENCE times the limit also suits a busy host. A passing
test reaches no limit."""
PATIENCE = 4
