// Loaded into the CDK CLI before it starts: the CLI asks CloudFormation every five seconds whether
// a stack is done, and every two for its events, and the local one is done within a second or two.
const intervals = new Map([
  [5000, 250],
  [2000, 250],
]);
const { setTimeout } = globalThis;

globalThis.setTimeout = Object.assign(
  (callback, delay, ...rest) => setTimeout(callback, intervals.get(delay) ?? delay, ...rest),
  setTimeout,
);
