"""What an operator does with a deployment: check the account, look after queues, restore."""
