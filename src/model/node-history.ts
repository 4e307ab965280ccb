/** What the node used over the last hour: GET /rxlet/v1/node-history. Columns of the same length, oldest first; null: not known. */
export interface NodeHistoryAnswer {
  readonly everyMs: number;
  readonly cores: number;
  /** Of the machine; null: not known. */
  readonly memoryBytes: number | null;
  /** Of the file system of the agent's root directory; null: not known. */
  readonly diskBytes: number | null;
  readonly samples: NodeHistoryColumns;
}

export interface NodeHistoryColumns {
  /** Dates in milliseconds since the epoch. */
  readonly atMs: readonly number[];
  /** Cores in use, on average since the sample before. */
  readonly cpuCores: readonly (number | null)[];
  /** Working set, in bytes. */
  readonly memoryUsed: readonly (number | null)[];
  readonly diskUsed: readonly (number | null)[];
  /** Pressure (PSI): of the time since the sample before, how much some process waited for it. Percent. */
  readonly cpuWaited: readonly (number | null)[];
  readonly memoryWaited: readonly (number | null)[];
  readonly ioWaited: readonly (number | null)[];
}
