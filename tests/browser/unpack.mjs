// Unpacks Chromium, so that no test waits for that.
import { chromium } from "./chromium.mjs";

await chromium();
