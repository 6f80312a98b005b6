"""Reading text from outside: numbers, dates, email addresses, suggestions for names."""
