"""What each page shows: functions from results to blocks, which the page's notebook calls."""
