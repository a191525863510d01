// Chromium as npm delivers it, with its own fonts and libraries: the same on every machine.
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const unpacked = join(here, "node_modules", ".chromium");

/** Unpack it, unless that is done, and return the path of its program. */
export async function chromium() {
  mkdirSync(unpacked, { recursive: true });
  process.env.TMPDIR = unpacked; // where the package unpacks to; it looks when it is imported
  const { default: packed, inflate, setupLambdaEnvironment } = await import("@sparticuz/chromium");
  packed.setGraphicsMode = false;
  const program = await packed.executablePath();
  await inflate(join(here, "node_modules", "@sparticuz", "chromium", "bin", "al2023.tar.br"));
  setupLambdaEnvironment(join(unpacked, "al2023", "lib"));
  // The caller's own would go before it; and the cache is not for the caller's HOME.
  process.env.FONTCONFIG_FILE = join(here, "fonts.conf");
  process.env.XDG_CACHE_HOME = join(unpacked, "cache");
  return program;
}

/** Return a browser; close it in the end. */
export async function browser() {
  const { default: puppeteer } = await import("puppeteer-core");
  const executablePath = await chromium();
  // No sandbox: a container's root has none, and the pages are the project's own.
  return puppeteer.launch({ executablePath, headless: "shell", args: ["--no-sandbox"] });
}
