"""Pictures for people; matplotlib is an extra and imported only when one is drawn."""
