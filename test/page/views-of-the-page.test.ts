import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { Page } from 'playwright-core';
import { accessibilityFaults, overflowPx } from './accessibility.ts';
import { AgentWithPage, playedPod } from './agent-with-page.ts';
import { openBrowser } from './browser.ts';

let agent: AgentWithPage;
let browser: Awaited<ReturnType<typeof openBrowser>>;
let page: Page;
let complaints: string[];

before(async () => {
  agent = await AgentWithPage.start();
  browser = await openBrowser({ viewport: { width: 1280, height: 800 } });
  await agent.declare(
    playedPod('web', 'pull=slow:1s', {
      initContainers: [{ name: 'prep', image: 'registry.example/prep:1', command: ['sleep', '1'] }],
      containers: [{ name: 'app', image: 'registry.example/web:1', readinessProbe: { exec: { command: ['true'] }, periodSeconds: 1 } }],
    }),
    playedPod('crash', 'exit=1 after=1s'),
  );
});
after(async () => {
  await browser?.close();
  await agent?.close();
});
beforeEach(async () => {
  complaints = [];
  page = await browser.context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
});
afterEach(() => page.close());

/** In light, in dark and on a phone. */
async function isForEverybody(what: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await accessibilityFaults(page), [], `${what}, ${colorScheme}`);
  }
  await page.setViewportSize({ width: 320, height: 640 });
  assert.equal(await overflowPx(page), 0, what);
  assert.deepEqual(await accessibilityFaults(page), [], `${what}, narrow`);
}

test("a pod's timeline shows sandbox, pull, init, run and probes, and is read by keyboard", async () => {
  await page.goto(`${agent.url}rxlet/v1/page#pod/default/web-node`);
  await page.locator('.span-run').waitFor();
  for (const kind of ['sandbox', 'pull', 'init', 'run']) assert.ok((await page.locator(`.span-${kind}`).count()) > 0, kind);
  // A line without a width is nothing that is seen, to the browser's driver.
  await page.locator('.mark-probe-well').first().waitFor({ state: 'attached' });
  await page.locator('.timeline-box').focus();
  await page.keyboard.press('ArrowLeft');
  const said = await page.locator('.timeline figcaption').innerText();
  assert.match(said, /^\d\d:\d\d:\d\d\.\d{3} (app|prep|sandbox): /);
  await page.keyboard.press('ArrowLeft');
  assert.notEqual(await page.locator('.timeline figcaption').innerText(), said);
  await page.getByRole('button', { name: 'Start' }).click();
  await page.locator('.span-init').waitFor();
  await isForEverybody('timeline');
  assert.deepEqual(complaints, []);
});

test('a crash is a run, its end and a back-off', async () => {
  await page.goto(`${agent.url}rxlet/v1/page#pod/default/crash-node`);
  await page.locator('.span-wait').first().waitFor();
  await page.locator('.mark-exit').first().waitFor({ state: 'attached' });
  assert.ok((await page.locator('.span-run').count()) >= 2);
});

test('the node shows what it used, as soon as there are two samples, and its parts', async () => {
  await page.goto(`${agent.url}rxlet/v1/page#node`);
  await page.getByRole('heading', { name: 'Node node' }).waitFor();
  await page.locator('.line-a[d*="L"]').first().waitFor({ state: 'attached' });
  await page.locator('.plot-now', { hasText: /^\d+\.\d\d cores/ }).waitFor();
  for (const name of [/^CPU, of \d+ cores$/, /^Memory, of /, /^Disk, of /, /^Pressure/])
    await page.getByRole('heading', { name }).waitFor();
  await page.locator('.parts').getByText('Engine').waitFor();
  await page.locator('.plot-box').first().focus();
  await page.keyboard.press('ArrowLeft');
  await page.getByText(/^at \d\d:\d\d:\d\d$/).waitFor();
  await isForEverybody('node');
  assert.deepEqual(complaints, []);
});

test('what happens comes as it happens, is found by words, and stands still when paused', async () => {
  await page.goto(`${agent.url}rxlet/v1/page#stream`);
  await page.locator('.entry').first().waitFor();
  await page.getByRole('searchbox').fill('brandnew');
  await page.getByText('Nothing of that.').waitFor();
  await agent.declare(playedPod('brandnew'));
  await page.locator('.entry', { hasText: 'default/brandnew-node' }).first().waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  const rows = await page.locator('.entry').count();
  assert.ok(rows < 80, `${rows} rows are drawn`);
  await page.getByRole('button', { name: 'Go on' }).waitFor();
  await isForEverybody('stream');
  assert.deepEqual(complaints, []);
});

test('the plan of an edit says what would become of which pod, and what is wrong with a manifest', async () => {
  await page.goto(`${agent.url}rxlet/v1/page#plan`);
  await page
    .getByLabel('Manifest')
    .fill('apiVersion: v1\nkind: Pod\nmetadata: {name: more}\nspec: {containers: [{name: app, image: "a:1"}]}\n');
  await page.getByRole('button', { name: 'Plan', exact: true }).click();
  await page.getByRole('heading', { name: 'default/more start' }).waitFor();
  await page.getByLabel('Manifest').fill('apiVersion: v1\nkind: Pod\nmetadata: {name: more}\nspec: {containers: [{name: app}]}\n');
  await page.getByRole('button', { name: 'Plan', exact: true }).click();
  await page.getByText(/spec\.containers\[0\]\.image: Required value/).waitFor();
  await isForEverybody('plan');
  assert.deepEqual(complaints, []);
});
