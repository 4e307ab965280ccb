/** What a probe last found; undefined, wherever one is asked for, means that it has found nothing yet. */
export type ProbeResult = 'success' | 'failure' | 'unknown';
