// Takes a picture of the top of a page: `node shoot.mjs page.html picture.png [height]`.
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { browser } from "./chromium.mjs";

const [file, picture, height = "1100"] = process.argv.slice(2);
const opened = await browser();
try {
  const page = await opened.newPage();
  await page.setViewport({ width: 960, height: Number(height) });
  await page.goto(pathToFileURL(resolve(file)).href, { waitUntil: "load" });
  await page.screenshot({ path: picture });
} finally {
  await opened.close();
}
