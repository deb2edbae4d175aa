// SPDX-License-Identifier: Apache-2.0
/**
 * The Lease object (coordination.k8s.io/v1) as leader election reads and writes it.
 * Usage: `const lease = await readLease(transport, name); await writeLease(transport, lease, { holder: "a", ... })`.
 */
import { isKubeError, KubeError } from "../http/kube-error.ts";
import { isKubeObject, isRecord, type KubeObject, type ResourceType } from "../kube-object.ts";
import { collectionPath, objectPath } from "../http/resource-path.ts";
import type { Transport, TransportRequest } from "../http/transport.ts";

/** Which Lease. */
export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/** A Lease as the server has it. */
export interface Lease {
  /** From uid and resourceVersion: two equal ones mean that nobody wrote in between. */
  readonly revision: string;
  /** "" for a lease that was given back. */
  readonly holder: string;
  /** For how long its holder may count on it. */
  readonly durationMs: number;
  /** How often it changed hands, by leaseTransitions. */
  readonly transitions: number;
  readonly object: KubeObject;
}

/** What a holder writes. Times are for people alone: nobody compares them. */
export interface LeaseClaim {
  readonly holder: string;
  readonly durationMs: number;
  readonly transitions: number;
  /** RFC 3339 with microseconds. Must differ from the last one: a write that changes nothing leaves no trace. */
  readonly renewTime: string;
  /** Of the first claim of a holder. */
  readonly acquireTime?: string | undefined;
}

export interface RequestLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

const leases: ResourceType = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
};

/** undefined when there is none. Rejects with KubeError. */
export async function readLease(
  transport: Transport,
  name: LeaseName,
  limits: RequestLimits,
): Promise<Lease | undefined> {
  try {
    return parseLease(await send(transport, { method: "GET", path: objectPath(leases, name), ...limits }));
  } catch (error) {
    if (isKubeError(error, "NotFound")) return undefined;
    throw error;
  }
}

/** Rejects with KubeError "AlreadyExists" when somebody was faster. */
export async function createLease(
  transport: Transport,
  { namespace, name }: LeaseName,
  claim: LeaseClaim,
  limits: RequestLimits,
): Promise<Lease> {
  const metadata = { namespace, name };
  const body = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec: specOf(claim) };
  return parseLease(
    await send(transport, { method: "POST", path: collectionPath(leases, namespace), body, ...limits }),
  );
}

/**
 * Replaces `lease` by the claim; what else others put on the object stays. Rejects with KubeError "Conflict" if anyone
 * wrote it since it was read, or it is gone (by its resourceVersion and uid).
 */
export async function writeLease(
  transport: Transport,
  lease: Lease,
  claim: LeaseClaim,
  limits: RequestLimits,
): Promise<Lease> {
  const before = "spec" in lease.object && isRecord(lease.object.spec) ? lease.object.spec : {};
  const body = { ...lease.object, spec: { ...before, ...specOf(claim) } };
  return parseLease(
    await send(transport, { method: "PUT", path: objectPath(leases, lease.object.metadata), body, ...limits }),
  );
}

function specOf({ holder, durationMs, transitions, renewTime, acquireTime }: LeaseClaim) {
  return {
    holderIdentity: holder,
    leaseDurationSeconds: Math.ceil(durationMs / 1000),
    leaseTransitions: transitions,
    renewTime,
    ...(acquireTime !== undefined && { acquireTime }),
  };
}

async function send(transport: Transport, request: TransportRequest): Promise<KubeObject> {
  const answer = await transport.request({ ...request, reserved: true });
  if (isKubeObject(answer)) return answer;
  throw new KubeError(`${request.method} ${request.path}`, "UnexpectedResponse", { words: "not a Lease" });
}

// Each field may be missing: whoever can write Leases can make one by hand.
function parseLease(object: KubeObject): Lease {
  const spec = "spec" in object && isRecord(object.spec) ? object.spec : {};
  const { holderIdentity, leaseDurationSeconds, leaseTransitions } = spec;
  return {
    revision: `${object.metadata.uid ?? ""}/${object.metadata.resourceVersion ?? ""}`,
    holder: typeof holderIdentity === "string" ? holderIdentity : "",
    durationMs: typeof leaseDurationSeconds === "number" ? leaseDurationSeconds * 1000 : 0,
    transitions: typeof leaseTransitions === "number" ? leaseTransitions : 0,
    object,
  };
}
