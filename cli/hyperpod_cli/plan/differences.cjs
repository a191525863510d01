// What a deployment changes in each stack, as the CDK CLI's own `diff` finds it. Reads a JSON list of
// {name, deployed, wanted}, templates both, and writes a list of resources by what becomes of them,
// and of the permissions that somebody gets. Its argument is the CLI's library.
const { DiffFormatter } = require(process.argv[2]);

// The kinds are those of `Difference` in differences.py.
const KINDS = {
  WILL_CREATE: "created",
  WILL_UPDATE: "updated",
  WILL_REPLACE: "replaced",
  MAY_REPLACE: "perhaps_replaced",
  WILL_DESTROY: "deleted",
  WILL_ORPHAN: "kept",
};

function permissions(diff) {
  const iam = diff.iamChanges;
  const statements = iam.statements.additions
    .filter((each) => each.effect !== "Deny")
    .map((each) => ({
      who: each.principals.values,
      actions: (each.actions.not ? ["all but", ...each.actions.values] : each.actions.values),
      resources: each.resources.not ? ["all but", ...each.resources.values] : each.resources.values,
      condition: each.condition,
    }));
  const policies = iam.managedPolicies.additions.map((each) => ({
    who: [each.identityArn],
    policy: each.managedPolicyArn,
  }));
  const ways = diff.securityGroupChanges.ingress.additions.map((each) => ({
    group: each.groupId,
    ports: each.describeProtocol(),
    peer: each.describePeer(),
  }));
  return [...statements, ...policies, ...ways];
}

// The CDK CLI has its usage reported by one resource, and the way of each other one in the tree of
// constructs kept: the app alone has neither, and a resource is the same with and without.
// https://docs.aws.amazon.com/cdk/v2/guide/usage-data.html
const OF_CLI = /^aws:(cdk|asset):/;

function compared(template) {
  const { CDKMetadata, ...resources } = template.Resources ?? {};
  const { CDKMetadataAvailable, ...Conditions } = template.Conditions ?? {};
  const Resources = Object.fromEntries(
    Object.entries(resources).map(([id, { Metadata = {}, ...resource }]) => {
      const own = Object.entries(Metadata).filter(([key]) => !OF_CLI.test(key));
      return [id, own.length ? { ...resource, Metadata: Object.fromEntries(own) } : resource];
    }),
  );
  return { ...template, Resources, Conditions };
}

function difference({ name, deployed, wanted }) {
  const oldTemplate = compared(deployed);
  const newTemplate = { stackName: name, template: compared(wanted), findMetadataByType: () => [] };
  const formatter = new DiffFormatter({ templateInfo: { oldTemplate, newTemplate } });
  const security = formatter.formatSecurityDiff({ quiet: true });
  const diff = formatter.diffs[name];
  const resources = {};
  diff.resources.forEachDifference((logicalId, change) => {
    // Of custom resources, the CLI does not know what a change comes to.
    const kind = KINDS[change.changeImpact] ?? "updated";
    (resources[kind] ??= []).push(logicalId);
  });
  const broadens = security.permissionChangeType === "broadening";
  return {
    name,
    resources,
    differs: !diff.isEmpty,
    permissions: broadens ? permissions(diff) : [],
  };
}

const chunks = [];
process.stdin.on("data", (chunk) => chunks.push(chunk));
process.stdin.on("end", () => {
  const stacks = JSON.parse(Buffer.concat(chunks));
  try {
    process.stdout.write(JSON.stringify(stacks.map(difference)));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
});
