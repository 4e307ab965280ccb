/** The labels that the kubelet's request metrics have (pkg/kubelet/server/metrics): values of a bounded number. */
export interface RequestLabels {
  readonly method: string;
  /** The route's first part, "containerLogs" or "metrics/cadvisor", or "other": never what a client made up. */
  readonly path: string;
  readonly serverType: 'readwrite' | 'readonly';
  /** exec, attach, port-forward. */
  readonly longRunning: boolean;
}

/** Counts and times requests: kubelet_http_requests_total, _inflight_requests and _requests_duration_seconds. Neither throws nor waits. */
export interface RequestMeter {
  /** A request has come; the result is to be called once when it has ended, streams included. */
  begin(labels: RequestLabels): () => void;
}
