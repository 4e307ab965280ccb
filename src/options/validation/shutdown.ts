import { invalid, type Rule } from './checked-settings.ts';

/** How long the node's shutdown waits for pods. */
export const shutdown: Rule = (of) => {
  const [all, critical] = ['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods'] as const;
  const [allMs, criticalMs] = [of.number(all), of.number(critical)];
  const shown = (field: string): string => `${field} {${of.duration(field)}}`;
  const isGraceful = of.gate('GracefulNodeShutdown');
  const isByPriority = of.maps('shutdownGracePeriodByPodPriority').length > 0;
  const tooShort = [all, critical].filter((field) => of.number(field) < 0 || (of.number(field) > 0 && of.number(field) < 1_000));
  return [
    isGraceful && criticalMs > allMs && invalid(`${shown(critical)} must be <= ${shown(all)}`),
    ...tooShort.map((field) => isGraceful && invalid(`${shown(field)} must be either zero or otherwise >= 1 sec`)),
    !isGraceful && (allMs > 0 || criticalMs > 0) && invalid(`specifying ${all} or ${critical} requires feature gate GracefulNodeShutdown`),
    isByPriority &&
      (of.gate('GracefulNodeShutdownBasedOnPodPriority')
        ? (allMs > 0 || criticalMs > 0) &&
          invalid('Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time')
        : invalid('Specifying shutdownGracePeriodByPodPriority requires feature gate GracefulNodeShutdownBasedOnPodPriority')),
  ];
};
