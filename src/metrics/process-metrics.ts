import { readdir, readFile } from 'node:fs/promises';
import { Counter, Gauge, type Registry } from 'prom-client';

/** The agent's own process under the names that every exporter uses: read at each scrape, and at no other time. */
export function processMetrics(
  registry: Registry,
  { nowMs, proc = '/proc/self' }: { readonly nowMs: () => number; readonly proc?: string },
): void {
  const registers = [registry];
  const startedAtSeconds = Math.round(nowMs() / 1000 - process.uptime());
  let countedCpuSeconds = 0;
  const cpu: Counter = new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
    registers,
    collect: () => {
      const { user, system } = process.cpuUsage();
      const seconds = (user + system) / 1e6;
      cpu.inc(seconds - countedCpuSeconds);
      countedCpuSeconds = seconds;
    },
  });
  const gauge = (name: string, help: string, read: () => number | Promise<number | undefined>): void => {
    const made: Gauge = new Gauge({
      name,
      help,
      registers,
      collect: async () => {
        const value = await read();
        if (value !== undefined) made.set(value);
      },
    });
  };
  gauge('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.', () => startedAtSeconds);
  gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', () => process.memoryUsage.rss());
  gauge('process_virtual_memory_bytes', 'Virtual memory size in bytes.', async () => {
    const kiB = /^VmSize:\s+(\d+) kB$/m.exec(await textOf(`${proc}/status`))?.[1];
    return kiB === undefined ? undefined : Number(kiB) * 1024;
  });
  gauge('process_open_fds', 'Number of open file descriptors.', () =>
    readdir(`${proc}/fd`).then(
      (open) => open.length,
      () => undefined,
    ),
  );
  gauge('process_max_fds', 'Maximum number of open file descriptors.', async () => {
    const soft = /^Max open files\s+(\d+)/m.exec(await textOf(`${proc}/limits`))?.[1];
    return soft === undefined ? undefined : Number(soft);
  });
  gauge('nodejs_heap_size_total_bytes', 'Process heap size from Node.js in bytes.', () => process.memoryUsage().heapTotal);
  gauge('nodejs_heap_size_used_bytes', 'Process heap size used from Node.js in bytes.', () => process.memoryUsage().heapUsed);
  gauge('nodejs_external_memory_bytes', 'Node.js external memory size in bytes.', () => process.memoryUsage().external);
  // Timers, sockets and the like are here what goroutines are to a kubelet: dashboards ask for this name.
  gauge('go_goroutines', 'Number of active resources of Node.js.', () => process.getActiveResourcesInfo().length);
  gauge('nodejs_active_resources_total', 'Total number of active resources.', () => process.getActiveResourcesInfo().length);
  let last = performance.eventLoopUtilization();
  gauge('nodejs_eventloop_utilization', 'Share of time since the last scrape in which the event loop was busy, from 0 to 1.', () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  });
  new Gauge({ name: 'nodejs_version_info', help: 'Node.js version info.', labelNames: ['version'], registers }).set(
    { version: process.version },
    1,
  );
}

function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
