"""Time limits are written for a quiet host; on a busy one each is PATIENCE times longer. A test that passes waits for no limit."""
PATIENCE = 4
