import { posix } from 'node:path';
import { type CheckedSettings, invalid, type Rule } from './checked-settings.ts';

/** How containers are started again, and what becomes of their logs. */
export const containers: Rule = (of) => [restarts(of), ...logs(of), ...logsDirectory(of)];

function restarts(of: CheckedSettings): string | false {
  const field = 'crashLoopBackOff.maxContainerRestartPeriod';
  const name = 'CrashLoopBackOff.MaxContainerRestartPeriod';
  if (!of.gate('KubeletCrashLoopBackOffMax')) {
    return of.has(field) && invalid(`FeatureGate KubeletCrashLoopBackOffMax not enabled, ${name} must not be set`);
  }
  const ms = Math.trunc(of.number(field));
  return (ms < 1_000 || ms > 300_000) && invalid(`${name} (got: ${of.number(field) / 1_000} seconds) must be set between 1s and 300s`);
}

const logs = (of: CheckedSettings): readonly (string | false)[] => [
  of.number('containerLogMaxWorkers') < 1 && invalid('containerLogMaxWorkers must be greater than or equal to 1'),
  of.number('containerLogMonitorInterval') < 3_000 &&
    invalid('containerLogMonitorInterval must be a positive time duration greater than or equal to 3s'),
  of.number('containerLogMaxFiles') <= 1 && invalid('containerLogMaxFiles must be greater than 1'),
];

function logsDirectory(of: CheckedSettings): readonly (string | false)[] {
  const path = of.text('podLogsDir');
  const normalized = posix.normalize(path).replace(/(?<=.)\/$/, '');
  const named = `pod logs path ${JSON.stringify(path)}`;
  return [
    path === '' && invalid('podLogsDir was not specified'),
    !path.startsWith('/') && invalid(`${named} must be absolute path`),
    path !== normalized && invalid(`${named} must be normalized`),
    // Word for word.
    Buffer.byteLength(path) !== path.length && invalid(`${named} mut contains ASCII characters only`),
  ];
}
