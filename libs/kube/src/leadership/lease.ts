// SPDX-License-Identifier: Apache-2.0
/**
 * readLease, createLease and writeLease access the Lease object (coordination.k8s.io/v1) of leader election.
 * Usage: `const lease = await readLease(transport, { namespace, name: "switchyard-operator" }, { timeoutMs: 5_000 })`.
 */
import { isKubeError, KubeError } from "../http/kube-error.ts";
import { isKubeObject, isRecord, type KubeObject, type ResourceType } from "../kube-object.ts";
import { collectionPath, objectPath, type Transport, type TransportRequest } from "../http/transport.ts";

/** Name of a Lease. */
export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/** The content of a Lease. */
export interface Lease {
  /** Uid and resourceVersion: if two are equal, nobody has written the Lease between the reads. */
  readonly revision: string;
  /** Identity of the holder; "" for a free lease. */
  readonly holder: string;
  /** leaseDurationSeconds in milliseconds; 0 if absent. */
  readonly durationMs: number;
  /** leaseTransitions: number of changes of the holder. */
  readonly transitions: number;
  readonly object: KubeObject;
}

/** The spec that a holder writes. Its times are for people and are never compared. */
export interface LeaseClaim {
  readonly holder: string;
  readonly durationMs: number;
  readonly transitions: number;
  /** RFC 3339 with microseconds. Must differ from the last one: a write without a change keeps the resourceVersion. */
  readonly renewTime: string;
  /** RFC 3339 with microseconds; only in the first claim of a holder. */
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

/** Returns undefined if the Lease does not exist. Rejects with KubeError. */
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

/** Rejects with KubeError "AlreadyExists" if the Lease exists. */
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
 * Writes the claim into `lease` and keeps all other fields. Rejects with KubeError "Conflict" if the Lease was written or
 * deleted since it was read.
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
    ...(acquireTime !== undefined && { acquireTime }), // renewals keep the one of the Lease
  };
}

async function send(transport: Transport, request: TransportRequest): Promise<KubeObject> {
  const answer = await transport.request({ ...request, reserved: true });
  if (isKubeObject(answer)) return answer;
  throw new KubeError(`${request.method} ${request.path}`, "UnexpectedResponse", {
    words: "the response is not a Lease",
  });
}

// Each field can be missing, since people can create a Lease.
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
