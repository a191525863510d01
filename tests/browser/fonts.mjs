// Says what a page is drawn with: `node fonts.mjs page.html` writes it as JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { browser } from "./chromium.mjs";

const opened = await browser();
try {
  const page = await opened.newPage();
  await page.goto(pathToFileURL(resolve(process.argv[2])).href, { waitUntil: "load" });
  const height = await page.evaluate(() => document.body.firstElementChild.offsetHeight);
  const mapped = readFileSync(`/proc/${opened.process().pid}/maps`, "utf8");
  const files = [...new Set(mapped.match(/\/.*\.(?:otf|tt[cf])\b/g))];
  process.stdout.write(JSON.stringify({ height, files }));
} finally {
  await opened.close();
}
