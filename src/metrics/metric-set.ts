import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Prometheus' own default buckets: seconds. */
const defaultBuckets: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** `count` buckets, each `factor` times the one before. */
export function exponentialBuckets(start: number, factor: number, count: number): readonly number[] {
  // Twelve digits are the numbers as people write them.
  return Array.from({ length: count }, (_, i) => Number((start * factor ** i).toPrecision(12)));
}

/** `count` buckets from `min` to `max`, each by the same factor larger than the one before. */
export function exponentialBucketsRange(min: number, max: number, count: number): readonly number[] {
  return exponentialBuckets(min, (max / min) ** (1 / (count - 1)), count);
}

/** How much Kubernetes promises of a metric. */
type Stability = 'ALPHA' | 'BETA';

/** Makes metrics in one registry, with the stability level in the help text as Kubernetes' components have it. */
export class MetricSet {
  readonly registry: Registry;

  constructor(registry: Registry) {
    this.registry = registry;
  }

  counter<L extends string = never>(name: string, help: string, labelNames: readonly L[] = [], level: Stability = 'ALPHA'): Counter<L> {
    return new Counter({ name, help: `[${level}] ${help}`, labelNames, registers: [this.registry] });
  }

  gauge<L extends string = never>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    collect?: (gauge: Gauge<L>) => void,
  ): Gauge<L> {
    return new Gauge({
      name,
      help: alpha(help),
      labelNames,
      registers: [this.registry],
      ...(collect
        ? {
            collect(this: Gauge<L>) {
              collect(this);
            },
          }
        : {}),
    });
  }

  histogram<L extends string = never>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    buckets: readonly number[] = defaultBuckets,
  ): Histogram<L> {
    return new Histogram({ name, help: alpha(help), labelNames, buckets: [...buckets], registers: [this.registry] });
  }
}

const alpha = (help: string): string => `[ALPHA] ${help}`;
