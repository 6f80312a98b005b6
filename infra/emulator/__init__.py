"""AWS on one machine: what of it an application needs, in its process, kept in a folder.

It is moto, with what a development machine needs beyond tests: data that survives a crash, rows in a database, objects
as files, a port for S3, and jobs. Nothing here knows the application.

aws           starts and stops all of it, and restores what a folder holds
sqlite        the database of rows, messages, mail and the index of objects
dynamodb      the calls of DynamoDB on its rows
s3            objects as files, and the S3 port
sqs, ses      stored messages and mail
batch         AWS Batch of one machine: jobs as confined processes or containers
direct_calls  calls of S3 and SQS without moto's HTTP
requests      the strict HTTP server of the ports
"""
