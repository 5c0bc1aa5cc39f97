"""What happens after a run; nothing else imports it."""
