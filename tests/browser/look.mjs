// Opens pages as their readers do: `node look.mjs page.html ...` writes what it saw as JSON.
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { browser } from "./chromium.mjs";

const WIDTHS = [360, 1280];
const HEIGHT = 800;

const opened = await browser();
try {
  const seen = [];
  for (const file of process.argv.slice(2)) seen.push(await look(file));
  process.stdout.write(JSON.stringify(seen));
} finally {
  await opened.close();
}

async function look(file) {
  const page = await opened.newPage();
  const complaints = [];
  const requests = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", async (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  const address = pathToFileURL(resolve(file)).href;
  page.on("request", (request) => {
    if (request.url() !== address && !request.url().startsWith("data:")) requests.push(request.url());
  });
  const overflowing = {};
  for (const width of WIDTHS) {
    await page.setViewport({ width, height: HEIGHT });
    await page.goto(address, { waitUntil: "load" });
    overflowing[width] = await page.evaluate(overflowingIn);
  }
  const contrast = {};
  for (const value of ["light", "dark"]) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value }]);
    contrast[value] = await page.evaluate(lowContrast);
  }
  const found = await page.evaluate(basics);
  const focused = await tabs(page, found.links);
  const pdf = Buffer.from(await page.pdf({ format: "A4" })).toString("latin1");
  await page.close();
  return {
    ...found, complaints, requests, overflowing, contrast, focused,
    pages: (pdf.match(/\/Type\s*\/Page\b/g) ?? []).length,
  };
}

/** Return what Tab leads to, one after the other, up to the end of the page. */
async function tabs(page, links) {
  const focused = [];
  await page.evaluate(() => document.activeElement?.blur());
  for (let index = 0; index <= links; index += 1) {
    await page.keyboard.press("Tab");
    focused.push(await page.evaluate(() => {
      const element = document.activeElement;
      const shown = element.getBoundingClientRect();
      return shown.width > 0 && shown.right > 0 ? element.textContent.trim() : "";
    }));
  }
  return focused;
}

function overflowingIn() {
  const width = document.documentElement.clientWidth;
  return [...document.querySelectorAll("body *")]
    .filter((element) => !element.classList.contains("skip"))
    .filter((element) => {
      const box = element.getBoundingClientRect();
      return box.right > width + 0.5 || (box.width > 0 && box.left < -0.5) ||
        (element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0);
    })
    .map((element) => element.outerHTML.slice(0, 120));
}

/** Return the texts with less than 4.5:1 (WCAG 2.2, 1.4.3). */
function lowContrast() {
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (color) => {
    const [red, green, blue] = channels(color).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if ((channels(color)[3] ?? 1) > 0) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const texts = [...document.querySelectorAll("body *")].filter((element) =>
    [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  return texts.filter((element) => {
    const [light, dark] = [getComputedStyle(element).color, behind(element)]
      .map(luminance).sort((one, other) => other - one);
    return (light + 0.05) / (dark + 0.05) < 4.5;
  }).map((element) => element.outerHTML.slice(0, 120));
}

function basics() {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const told = (elements) => elements.map((element) => element.outerHTML.slice(0, 120));
  const ids = all("[id]").map((element) => element.id);
  return {
    title: document.title,
    language: document.documentElement.lang,
    headings: all("h1, h2, h3").map((element) => [Number(element.tagName[1]), element.innerText]),
    landmarks: ["header", "nav", "main", "footer"].filter((name) => all(name).length === 1),
    repeatedIds: ids.filter((id, index) => ids.indexOf(id) !== index),
    brokenLinks: all("a").filter((link) => !document.querySelector(link.getAttribute("href")))
      .map((link) => link.href),
    withoutAlt: told(all("img").filter((image) => !image.alt)),
    notLoaded: told(all("img").filter((image) => !image.naturalWidth)),
    withoutHeaders: told(all("table").filter((table) =>
      !table.caption || !table.tHead || [...table.tHead.rows[0].cells].some((cell) => cell.scope !== "col"))),
    unevenRows: told(all("tr").filter((row) =>
      row.cells.length !== row.closest("table").tHead.rows[0].cells.length)),
    scripts: all("script, iframe, object, link, [onload], [onerror], [onclick]").length,
    rows: all("tr").length,
    links: all("a, summary").length,
    text: document.body.innerText,
  };
}
