// Takes a picture of the top of a page: `node shoot.mjs page.html picture.png`.
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { browser } from "./chromium.mjs";

const [file, picture] = process.argv.slice(2);
const opened = await browser();
try {
  const page = await opened.newPage();
  await page.setViewport({ width: 960, height: 1100 });
  await page.goto(pathToFileURL(resolve(file)).href, { waitUntil: "load" });
  await page.screenshot({ path: picture });
} finally {
  await opened.close();
}
