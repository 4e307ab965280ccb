import type { PodRefusal } from './pod-admission.ts';

/** Of an allocation that failed though the node seemed to have enough (unexpectedAdmissionError in pkg/kubelet/cm/admission). */
export const allocationFailed = (why: string): PodRefusal => ({
  reason: 'UnexpectedAdmissionError',
  message: `Allocate failed due to ${why}, which is unexpected`,
});
