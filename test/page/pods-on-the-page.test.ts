import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { Page } from 'playwright-core';
import { accessibilityFaults, overflowPx } from './accessibility.ts';
import { AgentWithPage, playedPod } from './agent-with-page.ts';
import { openBrowser } from './browser.ts';

const HOSTILE = '<img/src=x/onerror=document.title=1>\u001B[31m\u202Eevil';
let agent: AgentWithPage;
let browser: Awaited<ReturnType<typeof openBrowser>>;
let page: Page;
/** What the browser complains of, and what it asks others for. */
let complaints: string[];

before(async () => {
  agent = await AgentWithPage.start();
  browser = await openBrowser({ viewport: { width: 1280, height: 800 } });
  await agent.declare(
    playedPod('web'),
    playedPod('pulled', 'pull=slow:600s'),
    playedPod('crash', 'exit=1 after=1s'),
    playedPod('hostile', `start=fail:${HOSTILE}`),
    { metadata: { name: 'lost' }, spec: { containers: [{ name: 'app', image: 'registry.invalid/app:1' }] } },
  );
  await agent.write('broken.yaml', 'apiVersion: v1\nkind: Pod\nmetadata: {name: broken}\nspec: {containers: [{name: app}]}\n');
});
after(async () => {
  await browser?.close();
  await agent?.close();
});
beforeEach(async () => {
  complaints = [];
  page = await browser.context.newPage();
  page.on('console', (message) => {
    // Containers that others start on this machine give it other networks; the page connects again.
    if (message.text().includes('ERR_NETWORK_CHANGED')) return;
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(agent.url)) complaints.push(`asked for ${request.url()}`);
  });
});
afterEach(() => page.close());

const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });

const stateOf = (name: string, state: string) => row(name).locator('.state', { hasText: state });

test('each pod is there with its state and the true cause, the worst first', async () => {
  await page.goto(agent.url);
  await stateOf('lost-node', 'sick').waitFor();
  await row('lost-node')
    .getByText(/cannot be pulled: the registry cannot be reached/)
    .waitFor();
  await row('crash-node')
    .getByText(/Container app crashes: exit code 1/)
    .waitFor();
  await stateOf('broken', 'refused').waitFor();
  await row('broken')
    .getByText(/spec\.containers\[0\]\.image: Required value/)
    .waitFor();
  await stateOf('web-node', 'well').waitFor();
  await row('pulled-node').getByRole('progressbar').waitFor();
  const states = await page.locator('.pod-row .state').allInnerTexts();
  assert.deepEqual(
    states.toSorted((a, b) => 'srw'.indexOf(a[0] ?? '') - 'srw'.indexOf(b[0] ?? '')),
    states,
  );
  await page.getByRole('button', { name: /^well/ }).click();
  await row('lost-node').waitFor({ state: 'detached' });
  await row('web-node').waitFor();
  assert.deepEqual(complaints, []);
});

test('what others wrote is text, whatever is in it', async () => {
  await page.goto(`${agent.url}rxlet/v1/page#pod/default/hostile-node`);
  await page.getByText('<img/src=x/onerror=document.title=1>?[31m?evil').first().waitFor();
  assert.equal(await page.locator('img[src^="x"]').count(), 0);
  assert.notEqual(await page.title(), '1');
  assert.equal(await page.evaluate(() => ['\u001B', '\u202E'].some((each) => document.body.innerHTML.includes(each))), false);
  assert.deepEqual(complaints, []);
});

test('it has names, landmarks, headings and contrast, in light and in dark', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto(agent.url);
    await row('lost-node').waitFor();
    assert.deepEqual(await accessibilityFaults(page), [], `pods, ${colorScheme}`);
    await page.goto(`${agent.url}rxlet/v1/page#pod/default/crash-node`);
    await page.getByRole('heading', { name: 'Containers' }).waitFor();
    assert.deepEqual(await accessibilityFaults(page), [], `pod, ${colorScheme}`);
  }
});

test('on a phone nothing is wider than the screen', async () => {
  await page.setViewportSize({ width: 320, height: 640 });
  await page.goto(agent.url);
  await row('lost-node').waitFor();
  assert.equal(await overflowPx(page), 0);
  for (const name of ['crash', 'hostile', 'lost', 'pulled']) {
    await page.goto(`${agent.url}rxlet/v1/page#pod/default/${name}-node`);
    await page.getByRole('heading', { name: 'Containers' }).waitFor();
    assert.equal(await overflowPx(page), 0, name);
  }
});

test('by keyboard: to the content, to a pod, its heading is read, and back; what changes keeps the focus', async () => {
  await page.goto(agent.url);
  await row('web-node').waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'To the content');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement?.id === 'main');
  await row('web-node').getByRole('link').focus();
  // Another pod comes before it, and it moves on.
  await agent.declare({ metadata: { name: 'early' }, spec: { containers: [{ name: 'app', image: 'registry.invalid/early:1' }] } });
  await stateOf('early-node', 'sick').waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent === 'web-node');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'default/web-node' }).waitFor();
  // It has the focus with the frame after the one in which it is there.
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Pods', exact: true }).waitFor();
});

test('an agent that has gone is said to be gone, and is there again as soon as it runs', async () => {
  await page.goto(agent.url);
  await row('web-node').waitFor();
  await agent.stop();
  await page.getByText(/The agent is gone since/).waitFor();
  await page.getByText(/Next try in \d+ s\.|Trying/).waitFor();
  await row('web-node').waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  await agent.run();
  await page.getByRole('button', { name: 'Try now' }).click();
  await page.getByText(/The agent is gone since/).waitFor({ state: 'detached' });
  await page.getByText('live', { exact: true }).waitFor();
  await stateOf('lost-node', 'sick').waitFor();
});
