import type { Clock } from '../base/clock.ts';
import { isGrpcError } from '../base/grpc/grpc-error.ts';
import type { Logger } from '../base/logger.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import type { DeviceReport } from './device-health.ts';

/** As the kubelet tries again. */
const RETRY_MS = 5_000;
/** One that reports without end is heard no more often: each may be a write to the API server for each of its pods. */
const PAUSE_MS = 1_000;
/** A report of many devices is followed by a longer pause, of a millisecond for so many of them: to read it takes a while. */
const DEVICES_PER_MS = 50;

export interface HealthWatch {
  readonly driver: string;
  readonly reports: (signal: AbortSignal) => AsyncIterable<readonly DeviceReport[]>;
  readonly onReport: (devices: readonly DeviceReport[]) => void;
  /** It says nothing for now. */
  readonly onEnd: () => void;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
}

/** Hears how a driver's devices do, until the signal aborts. Never rejects. */
export async function watchHealth({ driver, reports, onReport, onEnd, clock, log }: HealthWatch, signal: AbortSignal): Promise<void> {
  const faults = new OngoingFaults<string>();
  while (!signal.aborted) {
    try {
      for await (const devices of reports(signal)) {
        onReport(devices);
        faults.over(driver);
        await clock.sleep(Math.max(PAUSE_MS, Math.ceil(devices.length / DEVICES_PER_MS)), signal);
      }
    } catch (error) {
      if (!signal.aborted && !isGrpcError(error, 'DeadlineExceeded') && faults.fault(driver, error))
        log.warn('how the devices of a driver do is not known, retrying', { driver, error });
    }
    onEnd();
    if (!signal.aborted) await clock.sleep(RETRY_MS, signal).catch(() => {});
  }
}
