"""CloudFormation templates for those who take neither the CDK nor its bootstrap stack."""
