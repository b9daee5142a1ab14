"""What each page shows: functions from results to blocks. The notebooks call them in order."""
