// SPDX-License-Identifier: Apache-2.0
/**
 * parseAllocatedClaim reads from a ResourceClaim (resource.k8s.io/v1) which devices of one driver and node the scheduler has allocated
 * to it, and what the claim and its class ask for them.
 * Usage: `parseAllocatedClaim(claim, { driver: draDriverName, pool: nodeName })`.
 */
import { defined, err, ok, type Result } from "@switchyard/api";
import { at, listAt, textAt } from "../pods/json-parts.ts";
import { parseVfConfig, type VfConfig } from "./vf-config.ts";

/** A claim with the devices of the driver. */
export interface AllocatedClaim {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Name by which the pod refers to a claim that was created from a template; absent for other claims. */
  readonly podClaimName?: string;
  /** In the order of the allocation. */
  readonly devices: readonly AllocatedClaimDevice[];
}

export interface AllocatedClaimDevice {
  /** "request", or "request/subrequest" of a request with firstAvailable. */
  readonly request: string;
  readonly device: string;
  /** Whether the claim observes the device, which another claim may have (adminAccess). */
  readonly isAdmin: boolean;
  readonly config: VfConfig;
}

export interface ClaimScope {
  readonly driver: string;
  /** Name of the pool: that of the node. */
  readonly pool: string;
}

/** The error is a sentence with the field. Devices of other drivers are left out. */
export function parseAllocatedClaim(claim: unknown, { driver, pool }: ClaimScope): Result<AllocatedClaim, string> {
  const metadata = at(claim, "metadata");
  const [namespace, name, uid] = ["namespace", "name", "uid"].map((field) => textAt(metadata, field));
  if (namespace === undefined || name === undefined || uid === undefined) {
    return err("metadata has no namespace, name and uid");
  }
  const devices = at(at(at(claim, "status"), "allocation"), "devices");
  if (devices === undefined) return err("status.allocation is absent: the claim is not allocated");
  const configs = parseConfigs(devices, driver);
  if (!configs.ok) return configs;

  const allocated: AllocatedClaimDevice[] = [];
  for (const [index, result] of listAt(devices, "results").entries()) {
    if (textAt(result, "driver") !== driver) continue;
    const field = `status.allocation.devices.results[${index}]`;
    const [request, device] = ["request", "device"].map((key) => textAt(result, key));
    if (request === undefined || !isRequest(request)) return err(`${field}.request is not the name of a request`);
    if (device === undefined) return err(`${field}.device is absent`);
    if (textAt(result, "pool") !== pool) return err(`${field}.pool is not "${pool}"`);
    const config = Object.assign(
      {},
      ...configs.value.filter(appliesTo(request)).map((each) => each.config),
    ) as VfConfig;
    allocated.push({ request, device, isAdmin: at(result, "adminAccess") === true, config });
  }
  const podClaimName = textAt(at(metadata, "annotations"), podClaimAnnotation);
  return ok({ namespace, name, uid, devices: allocated, ...defined({ podClaimName }) });
}

const podClaimAnnotation = "resource.kubernetes.io/pod-claim-name";

interface Config {
  /** Requests that it is for; empty for all. */
  readonly requests: readonly string[];
  readonly config: VfConfig;
}

/** Returns the configurations in the order in which later ones replace fields of earlier ones: those of classes first. */
function parseConfigs(devices: unknown, driver: string): Result<readonly Config[], string> {
  const found: (Config & { readonly isOfClass: boolean })[] = [];
  for (const [index, entry] of listAt(devices, "config").entries()) {
    const opaque = at(entry, "opaque");
    if (textAt(opaque, "driver") !== driver) continue;
    const config = parseVfConfig(
      at(opaque, "parameters"),
      `status.allocation.devices.config[${index}].opaque.parameters`,
    );
    if (!config.ok) return config;
    const requests = listAt(entry, "requests").filter((request) => typeof request === "string");
    found.push({ requests, config: config.value, isOfClass: textAt(entry, "source") === "FromClass" });
  }
  return ok([...found.filter(({ isOfClass }) => isOfClass), ...found.filter(({ isOfClass }) => !isOfClass)]);
}

/** A configuration without requests is for all; one for a request is for all its subrequests. */
function appliesTo(request: string): (config: Config) => boolean {
  return ({ requests }) =>
    requests.length === 0 || requests.some((each) => each === request || request.startsWith(`${each}/`));
}

/** Names of requests become names of files. */
function isRequest(text: string): boolean {
  return text.length <= 127 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\/[a-z0-9]([a-z0-9-]*[a-z0-9])?)?$/.test(text);
}
