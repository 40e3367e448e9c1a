"""What jobs leave behind: result files, rows, locks, and collecting them."""
