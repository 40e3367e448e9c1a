"""What all commands share: command lines, errors in one line, progress bars."""
