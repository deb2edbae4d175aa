// SPDX-License-Identifier: Apache-2.0
/**
 * createAttachments attaches the VFs of claims to pods without Multus. When a pod sandbox starts, it runs the CNI chain of the
 * NetworkAttachmentDefinition that VfConfig names; when the sandbox stops, it undoes that. All of it can be repeated, and killed at any
 * instruction: the record of an interface is written before the first plugin runs, and removed after the last one.
 */
import { parsePciAddress } from "@switchyard/api";
import type { HostFiles } from "@switchyard/host";
import type { PluginHandlers, PodSandbox } from "@switchyard/nri";
import type { AllocatedClaim } from "@switchyard/policy";
import { createTurns, type Logger } from "@switchyard/service";
import { setTimeout as delay } from "node:timers/promises";
import type { NetworkData } from "../claims/claim-status.ts";
import { createAttachmentFiles, type Attachment } from "./attachment-files.ts";
import { parseCniChain } from "./cni-chain.ts";
import { networkDataOf } from "./network-data.ts";
import { parseSandbox, type Sandbox } from "./parse-sandbox.ts";
import { addChain, deleteChain, type RunPlugin } from "./run-chain.ts";
import { findWantedAttachments, type WantedAttachment } from "./wanted-attachments.ts";

export interface AttachmentsDeps {
  readonly files: HostFiles;
  readonly runPlugin: RunPlugin;
  /** Returns the prepared claims that the pod has reserved. Rejects if they are not known. */
  readonly claimsOf: (
    pod: Pick<PodSandbox, "namespace" | "uid">,
    signal: AbortSignal,
  ) => Promise<readonly AllocatedClaim[]>;
  /** Returns `spec.config` of a NetworkAttachmentDefinition. Rejects if it does not exist. */
  readonly readNetwork: (network: WantedAttachment["network"], signal: AbortSignal) => Promise<string>;
  /** Called with the interfaces of a claim, by the names of their devices. */
  readonly attached: (claim: AllocatedClaim, networks: ReadonlyMap<string, NetworkData>) => void;
  readonly log: Logger;
  /** Ends repairs. */
  readonly signal: AbortSignal;
  /** The first and the longest pause between repairs that fail, in ms. */
  readonly pause?: { readonly firstMs: number; readonly longestMs: number };
}

/** Time to undo what has failed. The answer to the runtime does not wait for it. */
const undoTimeoutMs = 30_000;

export function createAttachments(deps: AttachmentsDeps): PluginHandlers {
  const { files, runPlugin, log } = deps;
  const { firstMs, longestMs } = deps.pause ?? { firstMs: 1_000, longestMs: 60_000 };
  const records = createAttachmentFiles(files);
  const turns = createTurns();
  let repairs = new AbortController();

  async function attachAll(pod: PodSandbox, signal: AbortSignal, mayAttach = always): Promise<void> {
    const wanted = await wantedOf(pod, signal);
    if (wanted.length === 0) return; // whatever else the runtime says of the pod
    const sandbox = checked(pod);
    const { networkNamespace } = sandbox;
    if (networkNamespace === undefined) {
      log.warn(shown(sandbox), "the pod is in the network of the host; its VFs are not attached");
      return;
    }
    try {
      for (const one of wanted) if (await mayAttach(one)) await attach({ ...sandbox, networkNamespace }, one, signal);
    } catch (error) {
      await detachAll(sandbox.id, AbortSignal.timeout(undoTimeoutMs)).catch((undoError: unknown) => {
        log.warn(
          { ...shown(sandbox), error: undoError },
          "interfaces of a pod that does not start not deleted; retrying",
        );
      });
      throw error;
    }
    report(wanted, await records.list(), sandbox);
  }

  async function wantedOf(pod: PodSandbox, signal: AbortSignal): Promise<readonly WantedAttachment[]> {
    const claims = await deps.claimsOf(pod, signal);
    if (claims.length === 0) return [];
    const wanted = findWantedAttachments(pod, claims);
    if (!wanted.ok) throw new Error(wanted.error);
    return wanted.value;
  }

  async function attach(
    sandbox: Required<Sandbox>,
    { claim, device, pciAddress, network, ifName }: WantedAttachment,
    signal: AbortSignal,
  ): Promise<void> {
    for (const other of await records.list()) {
      if (other.id === sandbox.id && other.ifName === ifName && other.result !== undefined) return;
      if (other.pciAddress !== pciAddress && (other.id !== sandbox.id || other.ifName !== ifName)) continue;
      if (other.id !== sandbox.id && other.isStopped !== true && (await exists(other.networkNamespace))) {
        const { namespace, name } = other.pod;
        throw new Error(`VF ${pciAddress} is attached to pod ${namespace}/${name}; one VF is for one pod`);
      }
      await detach(other, signal);
    }
    const of = `NetworkAttachmentDefinition ${network.namespace}/${network.name}`;
    const config = await deps.readNetwork(network, signal);
    const chain = parseCniChain(config, network.name);
    if (!chain.ok) throw new Error(`${of}: spec.config ${chain.error}`);
    signal.throwIfAborted();
    const attachment: Attachment = {
      ...sandbox,
      ...{ ifName, pciAddress, device, config, claim: claim.uid, network: `${network.namespace}/${network.name}` },
    };
    await records.write(attachment);
    const result = await addChain(runPlugin, chain.value, targetOf(attachment), signal);
    await records.write({ ...attachment, result });
    log.info({ ...shown(sandbox), vf: pciAddress, ifName, network: attachment.network }, "VF attached");
  }

  function report(wanted: readonly WantedAttachment[], all: readonly Attachment[], { id }: Sandbox): void {
    for (const claim of new Set(wanted.map((one) => one.claim))) {
      const own = all.filter((one) => one.id === id && one.claim === claim.uid);
      const networks = own.flatMap(({ device, ifName, result }) =>
        result === undefined ? [] : [[device, networkDataOf(result, ifName)] as const],
      );
      if (networks.length > 0) deps.attached(claim, new Map(networks));
    }
  }

  async function detachAll(id: string, signal: AbortSignal): Promise<void> {
    const own = (await records.list()).filter((one) => one.id === id);
    const errors: unknown[] = [];
    for (const one of own.reverse()) await detach(one, signal).catch((error: unknown) => errors.push(error));
    if (errors.length > 0) throw errors[0];
  }

  /** If the network namespace is gone, so is the interface: then errors of plugins count no more. */
  async function detach(attachment: Attachment, signal: AbortSignal): Promise<void> {
    const isGone = !(await exists(attachment.networkNamespace));
    const chain = parseCniChain(attachment.config, attachment.network.split("/")[1] ?? "");
    if (chain.ok) {
      const target = { ...targetOf(attachment), result: attachment.result, ...(isGone && { networkNamespace: "" }) };
      try {
        await deleteChain(runPlugin, chain.value, target, signal);
      } catch (error) {
        if (!isGone) {
          if (attachment.isStopped !== true) await records.write({ ...attachment, isStopped: true });
          throw error;
        }
        log.warn({ ...shown(attachment), error }, "the network namespace of the pod is gone; CNI DEL is not repeated");
      }
    }
    await records.remove(attachment);
    log.info({ ...shown(attachment), vf: attachment.pciAddress, ifName: attachment.ifName }, "VF detached");
  }

  async function exists(networkNamespace: string): Promise<boolean> {
    return (await files.readKind(networkNamespace)) !== undefined;
  }

  /**
   * Whether a VF of a running pod was not attached: the driver has begun to, or the kernel shows its interface in the network of the host.
   * A VF with vfio-pci has no interface, so it stays as it is.
   */
  async function isNotAttached({ pciAddress }: WantedAttachment, id: string): Promise<boolean> {
    const own = (await records.list()).filter((one) => one.id === id && one.pciAddress === pciAddress);
    if (own.length > 0) return own.some(({ result }) => result === undefined);
    if (!parsePciAddress(pciAddress).ok) return false;
    return (await files.listNames(`/sys/bus/pci/devices/${pciAddress}/net`)).length > 0;
  }

  /** Rejects with the first error, after everything was tried. */
  async function repair(pods: readonly PodSandbox[], signal: AbortSignal): Promise<void> {
    const errors: unknown[] = [];
    const attempt = (id: string, act: () => Promise<void>): Promise<void> =>
      turns.run(act, id).catch((error: unknown) => {
        log.warn({ sandbox: id, error }, "interfaces of a pod not repaired; retrying");
        errors.push(error);
      });
    // containerd lists no sandboxes of unknown state, so one that is missing may still run: only its namespace tells.
    for (const record of await records.list()) {
      if (record.isStopped === true || !(await exists(record.networkNamespace))) {
        await attempt(record.id, () => detach(record, signal));
      }
    }
    for (const pod of pods) {
      const sandbox = parseSandbox(pod);
      const path = sandbox.ok ? sandbox.value.networkNamespace : undefined;
      if (path === undefined || !(await exists(path))) continue;
      await attempt(pod.id, () => attachAll(pod, signal, (one) => isNotAttached(one, pod.id)));
    }
    if (errors.length > 0) throw errors[0];
  }

  return {
    synchronize(pods) {
      repairs.abort();
      repairs = new AbortController();
      const signal = AbortSignal.any([repairs.signal, deps.signal]);
      void repeat((until) => repair(pods, until), { firstMs, longestMs }, signal);
    },
    runPodSandbox: (pod, signal) => turns.run(() => attachAll(pod, signal), pod.id),
    stopPodSandbox: (pod, signal) => turns.run(() => detachAll(pod.id, signal), pod.id),
    removePodSandbox: (pod, signal) => turns.run(() => detachAll(pod.id, signal), pod.id),
  };
}

const always = (_one: WantedAttachment): Promise<boolean> => Promise.resolve(true);

function checked(pod: PodSandbox): Sandbox {
  const sandbox = parseSandbox(pod);
  if (!sandbox.ok) throw new Error(sandbox.error);
  return sandbox.value;
}

function targetOf({ id: sandbox, ...attachment }: Attachment) {
  const { networkNamespace, ifName, pciAddress, pod } = attachment;
  return { sandbox, networkNamespace, ifName, pciAddress, pod };
}

function shown({ id, pod }: Sandbox) {
  return { pod: `${pod.namespace}/${pod.name}`, sandbox: id };
}

/** Repeats what fails, after a pause that grows, until it succeeds or `signal` aborts. Never rejects. */
async function repeat(
  act: (signal: AbortSignal) => Promise<void>,
  { firstMs, longestMs }: { readonly firstMs: number; readonly longestMs: number },
  signal: AbortSignal,
): Promise<void> {
  for (let pauseMs = firstMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, longestMs)) {
    try {
      await act(signal);
      return;
    } catch {
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
