import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The distribution's Chromium, without a screen, with a profile of its own. `close` removes it. */
export async function openBrowser(
  options: BrowserContextOptions = {},
): Promise<{ readonly context: BrowserContext; close(): Promise<void> }> {
  const profile = await mkdtemp(join(tmpdir(), 'rxlet-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env['RXLET_TEST_CHROMIUM'] ?? '/usr/bin/chromium',
    headless: true,
    args: flags,
    timeout: 120_000,
    ...options,
  });
  context.setDefaultTimeout(60_000);
  return {
    context,
    close: async () => {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}
