import type { CheckedSettings, Rule } from './checked-settings.ts';

const schemes: readonly string[] = ['dns', 'unix', 'unix-abstract'];
const MILLION = 1_000_000;

/** Traces (component-base/tracing/api/v1) and hidden metrics. */
export const observability =
  (previousRelease: string): Rule =>
  (of) => [hiddenMetrics(of, previousRelease), ...samplingRate(of), endpoint(of)];

function hiddenMetrics(of: CheckedSettings, previousRelease: string): string | false {
  const version = of.text('showHiddenMetricsForVersion');
  if (version === '' || version === previousRelease) return false;
  return `invalid showHiddenMetricsForVersion: showHiddenMetricsForVersion: Invalid value: ${JSON.stringify(version)}: must be omitted or have the value '${previousRelease}'; only the previous minor version is allowed`;
}

function samplingRate(of: CheckedSettings): readonly (string | false)[] {
  const rate = of.number('tracing.samplingRatePerMillion');
  const wrong = `tracing.samplingRatePerMillion: Invalid value: ${rate}: sampling rate`;
  return [rate < 0 && `${wrong} must be positive`, rate > MILLION && `${wrong} per million must be less than or equal to one million`];
}

function endpoint(of: CheckedSettings): string | false {
  if (!of.has('tracing.endpoint')) return false;
  const given = of.text('tracing.endpoint');
  const url = given.includes('//') ? given : `dns://${given}`;
  const [, scheme = '', port = ''] = /^([a-zA-Z][a-zA-Z0-9+.-]*):(?:\/\/[^/?#]*?(:[^:\]/?#]*)?(?=[/?#]|$))?/.exec(url) ?? [];
  const wrong = `tracing.endpoint: Invalid value: ${JSON.stringify(url)}:`;
  if (!/^(:\d*)?$/.test(port)) return `${wrong} parse ${JSON.stringify(url)}: invalid port ${JSON.stringify(port)} after host`;
  return (
    !schemes.includes(scheme.toLowerCase()) &&
    `${wrong} unsupported scheme: ${scheme.toLowerCase()}.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md`
  );
}
