"""What runs workflows: a job cluster with Argo on Kubernetes, or AWS Batch on Fargate; one interface.

base          the interface, and what engines say
kubernetes    an organization's own cluster
batch         the deployment's own queue: Batch's calls
batch_jobs    a node as a Batch job: images, sizes, files
"""
