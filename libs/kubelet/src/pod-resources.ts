// SPDX-License-Identifier: Apache-2.0
/**
 * createPodResources is the one reader of the kubelet's API for pod resources in a process. The kubelet allows 100 calls per
 * second for all clients of the node together (pkg/kubelet/apis/podresources/server_v1.go, 1.36). Therefore callers share answers,
 * one call of each kind runs at a time, and calls begin at least `spacingMs` apart.
 * Usage: `const { pods, atMs } = await createPodResources({ path }).listPods(signal);`
 */
import { createFileAges, isErrno, type FileAge } from "@switchyard/service";
import { stat } from "node:fs/promises";
import { callGrpc } from "./grpc/grpc.ts";
import {
  allocatableResourcesMethod,
  listPodResourcesMethod,
  type PodDevices,
  type ResourceDevices,
} from "./pod-resources-messages.ts";

/** An answer of the kubelet. */
export interface PodList {
  /** Pods that were admitted and have not ended, with their devices. */
  readonly pods: readonly PodDevices[];
  /** When the kubelet created its socket, as a wall clock says it; undefined if it has just ended. */
  readonly kubeletStartedMs: number | undefined;
  /** How long ago that was, as far as the clock can be believed (createFileAges()). */
  readonly kubeletAgeMs: number | undefined;
  /** When the call began, by the clock of the reader. Everything that happened before is in the answer. */
  readonly atMs: number;
}

/** Healthy devices of plugins that run, whether pods have them or not. */
export interface OfferedList {
  readonly devices: readonly ResourceDevices[];
  /** As in PodList. */
  readonly atMs: number;
}

export interface PodResources {
  /**
   * Returns an answer that is at most `spacingMs` old or, for `isFresh`, whose call begins after this one. Rejects with a ServiceError
   * of gRPC, or with the signal's reason. An error is shared as answers are.
   */
  listPods(signal: AbortSignal, options?: ReadOptions): Promise<PodList>;
  /** As listPods(). */
  listOffered(signal: AbortSignal, options?: ReadOptions): Promise<OfferedList>;
}

export interface ReadOptions {
  /** Whether an answer to an earlier call does not suffice. */
  readonly isFresh?: boolean;
}

export interface PodResourcesOptions {
  /** kubelet/pod-resources/kubelet.sock. */
  readonly path: string;
  /** Limit for one call; 10 s by default. */
  readonly timeoutMs?: number;
  /** Monotonic time; that of the process by default. */
  readonly nowMs?: () => number;
  /** Returns the age of the kubelet's socket; that of createFileAges() by default. */
  readonly ageOf?: FileAge;
  /** Calls `run` once after `delayMs`; a timer of the process by default. */
  readonly after?: (delayMs: number, run: () => void) => void;
}

/** Time between the beginnings of two calls. Four calls per second are a twenty-fifth of what the kubelet allows. */
const spacingMs = 250;

const defaultTimeoutMs = 10_000;

export function createPodResources({
  path,
  timeoutMs = defaultTimeoutMs,
  nowMs = monotonicMs,
  ageOf = createFileAges(),
  after = afterTimer,
}: PodResourcesOptions): PodResources {
  // A shared call does not end with one of its callers.
  const target = () => ({ path, timeoutMs, signal: new AbortController().signal });
  const pods = createShared(() => callGrpc(listPodResourcesMethod, {}, target()), { nowMs, after });
  const offered = createShared(() => callGrpc(allocatableResourcesMethod, {}, target()), { nowMs, after });
  return {
    async listPods(until, options) {
      const { value, atMs } = await pods(until, options);
      const kubeletStartedMs = await startOf(path);
      const kubeletAgeMs = kubeletStartedMs === undefined ? undefined : ageOf(path, kubeletStartedMs);
      return { pods: value, atMs, kubeletStartedMs, kubeletAgeMs };
    },
    async listOffered(until, options) {
      const { value, atMs } = await offered(until, options);
      return { devices: value, atMs };
    },
  };
}

interface Answer<Value> {
  readonly value: Value;
  readonly atMs: number;
}

type Shared<Value> = (signal: AbortSignal, options?: ReadOptions) => Promise<Answer<Value>>;

/** Returns a function that calls `read` for many callers at once. */
function createShared<Value>(
  read: () => Promise<Value>,
  { nowMs, after }: Required<Pick<PodResourcesOptions, "nowMs" | "after">>,
): Shared<Value> {
  let last: { readonly atMs: number; readonly answer: Promise<Answer<Value>> } | undefined;
  /** The call that begins when the last one has ended and is old enough. */
  let next: Promise<Answer<Value>> | undefined;

  function begin(): Promise<Answer<Value>> {
    const atMs = nowMs();
    const answer = read().then((value) => ({ value, atMs }));
    answer.catch(() => undefined); // its callers may all have gone
    last = { atMs, answer };
    return answer;
  }

  async function beginLater(before: NonNullable<typeof last>): Promise<Answer<Value>> {
    await before.answer.catch(() => undefined);
    const waitMs = before.atMs + spacingMs - nowMs();
    if (waitMs > 0) {
      await new Promise<void>((resolve) => {
        after(waitMs, resolve);
      });
    }
    next = undefined;
    return begin();
  }

  function answerFor({ isFresh = false }: ReadOptions): Promise<Answer<Value>> {
    if (last === undefined) return begin();
    if (!isFresh && nowMs() - last.atMs < spacingMs) return last.answer;
    next ??= beginLater(last);
    return next;
  }

  return (signal, options = {}) => withSignal(answerFor(options), signal);
}

/** Rejects with the signal's reason when it aborts before the answer. */
function withSignal<Value>(answer: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the caller chose the reason
      reject(signal.reason);
    };
    if (signal.aborted) {
      stop();
      return;
    }
    signal.addEventListener("abort", stop, { once: true });
    answer.then(resolve, reject).finally(() => {
      signal.removeEventListener("abort", stop);
    });
  });
}

async function startOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isErrno(error)) return undefined;
    throw error;
  }
}

function monotonicMs(): number {
  return performance.now();
}

function afterTimer(delayMs: number, run: () => void): void {
  setTimeout(run, delayMs);
}
