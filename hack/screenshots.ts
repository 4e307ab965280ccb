// Takes the pictures of the page that are in docs/: an agent on the embedded engine with some pods, in the distribution's Chromium.
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { AgentWithPage, playedPod } from '../test/page/agent-with-page.ts';
import { openBrowser } from '../test/page/browser.ts';

const directory = resolve(import.meta.dirname, '../docs/page');
const PATIENCE_MS = 120_000;

const agent = await AgentWithPage.start();
const browser = await openBrowser({ viewport: { width: 1100, height: 640 } });
browser.context.setDefaultTimeout(PATIENCE_MS);
browser.context.setDefaultNavigationTimeout(PATIENCE_MS);
try {
  await mkdir(directory, { recursive: true });
  await agent.declare(
    playedPod('web', 'pull=slow:3s', {
      initContainers: [{ name: 'migrate', image: 'registry.example/migrate:4', command: ['sleep', '4'] }],
      containers: [
        { name: 'app', image: 'registry.example/web:7', readinessProbe: { exec: { command: ['true'] }, periodSeconds: 2 } },
        {
          name: 'cache',
          image: 'registry.example/cache:2',
          livenessProbe: { exec: { command: ['false'] }, periodSeconds: 3, failureThreshold: 3 },
        },
      ],
      terminationGracePeriodSeconds: 1,
    }),
    playedPod('database'),
    playedPod('mail'),
    playedPod('search', 'pull=slow:300s'),
    playedPod('worker', 'exit=137 after=2s'),
    playedPod('report', 'exit=0 after=2s', { restartPolicy: 'Never', containers: [{ name: 'app', image: 'registry.example/report:1' }] }),
    { metadata: { name: 'billing' }, spec: { containers: [{ name: 'app', image: 'registry.invalid/billing:12' }] } },
    {
      metadata: { name: 'api' },
      spec: { containers: [{ name: 'app', image: 'registry.example/api:1', envFrom: [{ secretRef: { name: 'login' } }] }] },
    },
  );
  await agent.write(
    'shop.yaml',
    'apiVersion: v1\nkind: Pod\nmetadata: {name: shop}\nspec:\n  containers:\n    - {name: app, image: "shop:1", resources: {limits: {memory: 64Mb}}}\n',
  );
  const page = await browser.context.newPage();
  const shoot = async (name: string, hash: string, seen: string, colorScheme: 'light' | 'dark' = 'light'): Promise<void> => {
    await page.emulateMedia({ colorScheme });
    await page.goto(`${agent.url}rxlet/v1/page${hash}`);
    await page.locator(seen).first().waitFor({ state: 'attached' });
    await page.screenshot({ path: join(directory, `${name}.png`) });
    console.log(`docs/page/${name}.png`);
  };
  await shoot('pods', '#pods', 'text=crashes');
  await shoot('node', '#node', '.line-a[d*="L"]', 'dark');
  await shoot('pod', '#pod/default/web-node', '.span-stop');
  await page.setViewportSize({ width: 320, height: 640 });
  await shoot('phone', '#pods', 'text=crashes', 'dark');
} finally {
  await browser.close();
  await agent.close();
}
