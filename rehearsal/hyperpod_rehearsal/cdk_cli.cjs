// The CDK CLI, one process for all commands of a rehearsal: it reads a command a line, JSON of its
// arguments and of the variables that it changes for good, and ends what the command prints with a
// line of END and the exit code. To start the CLI costs more than most of its commands do.
const { createInterface } = require("node:readline");
const { exec } = require(process.argv[2]);

const END = "\0";

// The CLI asks CloudFormation every five seconds whether a stack is done, and the local one is done
// within a second or two.
const { setTimeout } = globalThis;

globalThis.setTimeout = Object.assign(
  (callback, delay, ...rest) => setTimeout(callback, delay === 5000 ? 250 : delay, ...rest),
  setTimeout,
);

// The CLI describes each call for a log that nobody reads here; of an upload, byte by byte.
Buffer.prototype.toJSON = function () {
  return `${this.length} bytes`;
};

async function run(command) {
  Object.assign(process.env, command.environment);
  try {
    return (await exec(command.arguments)) ?? 0;
  } catch (error) {
    for (let cause = error; cause; cause = cause.cause) console.error(cause.message);
    return 1;
  }
}

(async () => {
  for await (const line of createInterface({ input: process.stdin })) {
    const code = await run(JSON.parse(line));
    process.stdout.write(`${END}${code}\n`);
  }
})();
