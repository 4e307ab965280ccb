// Rules of ValidateKubeletConfiguration for fields that have no effect here (pkg/kubelet/apis/config/validation, 1.36), in its words.
import { acceptedOptions } from './accepted-options.ts';
import { showDuration } from './accepted-rules.ts';
import type { AcceptedOption } from './option.ts';

/** "imageGCHighThresholdPercent (--image-gc-high-threshold)", as the kubelet's own messages name a setting. */
const nameOf = ({ flag, config }: Pick<AcceptedOption, 'flag' | 'config'>): string => {
  if (config === undefined) return `--${flag}`;
  return flag === undefined || namedByFieldAlone.has(config) ? config : `${config} (--${flag})`;
};

const namedByFieldAlone: ReadonlySet<string> = new Set(['containerLogMaxFiles', 'imageMinimumGCAge']);

/** What is wrong with values that have no effect, alone or together: one sentence each. */
export function acceptedFaults(given: ReadonlyMap<AcceptedOption, unknown>): readonly string[] {
  const alone = [...given].flatMap(([option, value]) => option.fault?.(value, nameOf(option)) ?? []);
  const fields = new Map([...given].map(([{ config }, value]) => [config, value]));
  const together = [imageAges, imageThresholds, shutdownPeriods, cgroups, reservedProcessors].flatMap((rule) => rule(fields) ?? []);
  return [...alone, ...together].map((fault) => `invalid configuration: ${fault}`);
}

/** Values by field, of those that are set. */
type Fields = ReadonlyMap<string | undefined, unknown>;

const named = (field: string): string => nameOf(acceptedOptions.find(({ config }) => config === field) ?? { config: field });
const isSet = (fields: Fields, field: string): boolean => (fields.get(field) ?? '') !== '';

function numberIn(fields: Fields, field: string, unset: number): number {
  const value = fields.get(field);
  return typeof value === 'number' ? value : unset;
}

function imageThresholds(fields: Fields): string | undefined {
  const [low, high] = [numberIn(fields, 'imageGCLowThresholdPercent', 80), numberIn(fields, 'imageGCHighThresholdPercent', 85)];
  const [lowest, highest] = [named('imageGCLowThresholdPercent'), named('imageGCHighThresholdPercent')];
  return low >= high ? `${lowest} ${low} must be less than ${highest} ${high}` : undefined;
}

/** Zero is the default of the least age, and no limit for the greatest. */
function imageAges(fields: Fields): string | undefined {
  const [oldestMs, youngestMs] = [numberIn(fields, 'imageMaximumGCAge', 0), numberIn(fields, 'imageMinimumGCAge', 0) || 120_000];
  if (oldestMs <= 0 || oldestMs > youngestMs) return undefined;
  return `imageMaximumGCAge ${showDuration(oldestMs)} must be greater than imageMinimumGCAge ${showDuration(youngestMs)}`;
}

function shutdownPeriods(fields: Fields): string | undefined {
  const [graceMs, criticalMs] = [numberIn(fields, 'shutdownGracePeriod', 0), numberIn(fields, 'shutdownGracePeriodCriticalPods', 0)];
  if (criticalMs <= graceMs) return undefined;
  return `shutdownGracePeriodCriticalPods {${showDuration(criticalMs)}} must be <= shutdownGracePeriod {${showDuration(graceMs)}}`;
}

function cgroups(fields: Fields): readonly string[] {
  const given = fields.get('enforceNodeAllocatable');
  const enforced: readonly unknown[] = Array.isArray(given) ? given : ['pods'];
  const faults: string[] = [];
  const enforcement = named('enforceNodeAllocatable');
  if (fields.get('cgroupsPerQOS') === false && enforced.includes('pods'))
    faults.push(`${named('cgroupsPerQOS')} must be set to true when "pods" contained in ${enforcement}`);
  for (const [of, field] of [
    ['system-reserved', 'systemReservedCgroup'],
    ['kube-reserved', 'kubeReservedCgroup'],
  ] as const) {
    const wants = enforced.includes(of) || enforced.includes(`${of}-compressible`);
    if (wants && !isSet(fields, field))
      faults.push(`${named(field)} must be specified when "${of}" or "${of}-compressible" included in ${enforcement}`);
  }
  if (isSet(fields, 'systemCgroups') && !isSet(fields, 'cgroupRoot'))
    faults.push(`${named('systemCgroups')} was specified and ${named('cgroupRoot')} was not specified`);
  return faults;
}

function reservedProcessors(fields: Fields): string | undefined {
  const [system, kube] = ['systemReservedCgroup', 'kubeReservedCgroup'] as const;
  if (!isSet(fields, 'reservedSystemCPUs') || !(isSet(fields, system) || isSet(fields, kube))) return undefined;
  return `can't use ${named('reservedSystemCPUs')} with ${named(system)} or ${named(kube)}`;
}
