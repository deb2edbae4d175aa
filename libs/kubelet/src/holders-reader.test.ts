// SPDX-License-Identifier: Apache-2.0
/** What is known of the holders of devices while the kubelet or its files are not as they should be. */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { createFileAges } from "@switchyard/service";
import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { empty, grpcMethod, serveGrpc, type Codec } from "./grpc/grpc.ts";
import { createHoldersReader, type HoldersReaderOptions } from "./holders-reader.ts";
import type { ClaimedDevice, PodDevices } from "./pod-resources-messages.ts";
import { createPodResources, type PodResourcesOptions } from "./pod-resources.ts";
import { createPodUids } from "./pod-uids.ts";
import { startFakeKubelet, type FakeKubelet } from "./testing/fake-kubelet.ts";

let root: string;
let directory: string;
let kubelet: AsyncDisposable | undefined;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "switchyard-holders-reader-"));
  directory = join(root, "kubelet");
  await mkdir(join(directory, "pod-resources"), { recursive: true });
});
afterEach(async () => {
  await kubelet?.[Symbol.asyncDispose]();
  kubelet = undefined;
  await rm(root, { recursive: true });
});

const never = new AbortController().signal;
const [vf0, vf1] = ["0000:3b:02.0", "0000:3b:02.1"] as const;
const lab = "openshift.io/lab";
const draDriver = "sriovnetwork.k8snetworkplumbingwg.io";
const uids = { old: "11111111-aaaa-4aaa-8aaa-000000000001", next: "22222222-bbbb-4bbb-8bbb-000000000002" };

function pod(name: string, ...ids: readonly string[]): PodDevices {
  return {
    ...{ name, namespace: "apps" },
    containers: [{ name: "app", devices: ids.length === 0 ? [] : [{ resourceName: lab, ids }] }],
  };
}

function claiming(name: string, ...devices: readonly string[]): PodDevices {
  const claimed = devices.map((device): ClaimedDevice => ({ claim: "nic", driver: draDriver, pool: "w", device }));
  return { name, namespace: "apps", containers: [{ name: "app", devices: [], claimed }] };
}

async function start(pods: readonly PodDevices[]): Promise<FakeKubelet> {
  const started = await startFakeKubelet(directory);
  started.pods = pods;
  kubelet = started;
  return started;
}

/** A kubelet that answers each call for pods with these bytes, or never. */
async function startOdd(bytes: Buffer | "never", path = "/v1.PodResourcesLister/List"): Promise<void> {
  const raw: Codec<Buffer> = { encode: (message) => message, decode: (message) => message };
  kubelet = await serveGrpc({
    path: join(directory, "pod-resources/kubelet.sock"),
    methods: { list: grpcMethod(path, empty, raw) },
    handlers: {
      list(_call: unknown, respond: (error: null, answer: Buffer) => void) {
        if (bytes !== "never") respond(null, bytes);
      },
    },
  });
}

const socket = () => join(directory, "pod-resources/kubelet.sock");

function read({ ageOf, ...options }: Partial<HoldersReaderOptions & PodResourcesOptions> = {}, timeoutMs = 10_000) {
  const logDirectory = join(root, "log/pods");
  return createHoldersReader({
    podResources: createPodResources({ path: socket(), timeoutMs, ...(ageOf && { ageOf }) }),
    podUids: createPodUids({ kubeletDirectory: directory, logDirectory }),
    ...options,
  }).read(never);
}

async function write(path: string, content: unknown): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), typeof content === "string" ? content : JSON.stringify(content));
}

const hasLogs = (...names: readonly string[]) =>
  Promise.all(names.map((name) => mkdir(join(root, "log/pods", name), { recursive: true })));

/** The kubelet's checkpoint of devices, as it writes it. */
function gave(uid: string, ids: readonly string[], resource = lab) {
  const entry = { PodUID: uid, ContainerName: "app", ResourceName: resource, DeviceIDs: { "0": ids }, AllocResp: "" };
  return write("kubelet/device-plugins/kubelet_internal_checkpoint", {
    Data: { PodDeviceEntries: [entry], RegisteredDevices: { [resource]: ids } },
    Checksum: 1,
  });
}

const claimState = (podUids: readonly string[]) => ({
  ...{ ClaimUID: "c", ClaimName: "nic", Namespace: "apps" },
  PodUIDs: Object.fromEntries(podUids.map((uid) => [uid, {}])),
  DriverState: {
    [draDriver]: { Devices: [{ PoolName: "w", DeviceName: "0000-3b-02-1", RequestNames: ["vf"] }] },
    "gpu.example.com": { Devices: [{ PoolName: "w", DeviceName: "gpu-0" }] },
  },
});

describe("holders are not known", () => {
  it.each([
    { what: "there is no socket", odd: undefined, says: /^14 UNAVAILABLE/ },
    { what: "the kubelet does not answer", odd: () => startOdd("never"), says: /^4 DEADLINE_EXCEEDED/ },
    {
      what: "the kubelet has another version of the API",
      odd: () => startOdd(Buffer.alloc(0), "/v2.PodResourcesLister/List"),
      says: /^12 UNIMPLEMENTED/,
    },
    {
      what: "the answer is no message",
      odd: () => startOdd(Buffer.from([0x0a, 0xff, 0x01])),
      says: /protobuf|parsing/i,
    },
    { what: "the answer is too large", odd: () => startOdd(Buffer.alloc(17 << 20)), says: /^8 RESOURCE_EXHAUSTED/ },
  ])("while $what", async ({ odd, says }) => {
    await odd?.();
    await expect(read({}, odd === undefined ? 10_000 : 1_000)).rejects.toThrow(says);
  });

  it.each([
    { ageMs: 29_000, ownPod: undefined, isNew: true },
    { ageMs: 31_000, ownPod: undefined, isNew: false },
    { ageMs: 9_000, ownPod: "daemon", isNew: true },
    { ageMs: 11_000, ownPod: "daemon", isNew: false },
    { ageMs: 3_600_000, ownPod: "other", isNew: true }, // the API server has been away since
  ])("of all pods by a kubelet that is $ageMs ms old, of the pod $ownPod: $isNew", async ({ ageMs, ownPod, isNew }) => {
    await start([pod("daemon"), pod("web-0", vf0)]);
    const own = ownPod === undefined ? undefined : { namespace: "apps", name: ownPod };
    const known = await read({ ownPod: own, ageOf: () => ageMs });
    expect([known.isNewKubelet, [...known.byId.keys()]]).toEqual([isNew, [vf0]]);
  });
});

describe("a kubelet that has written its socket while the clock", () => {
  it.each([
    { was: "was in 1970", at: new Date(60_000) },
    { was: "was years ahead", at: new Date("2040-01-01T00:00:00Z") },
  ])("$was is new when it is seen first, and not for years", async ({ at }) => {
    await start([pod("web-0", vf0)]);
    await utimes(socket(), at, at);
    let elapsedMs = 0;
    const ageOf = createFileAges({ elapsedMs: () => elapsedMs });
    expect((await read({ ageOf })).isNewKubelet).toBe(true);
    elapsedMs = 31_000;
    expect((await read({ ageOf })).isNewKubelet).toBe(false);
  });
});

describe("holders are known", () => {
  it("of 500 pods with many devices, in an answer of megabytes", async () => {
    const many = (nth: number) => Array.from({ length: 120 }, (_, id) => `${nth}-${id}-${"x".repeat(40)}`);
    await start([...Array.from({ length: 500 }, (_, nth) => pod(`web-${nth}`, ...many(nth))), pod("last", vf0)]);
    const { byId, isListed } = await read();
    expect([byId.size, byId.get(vf0)?.[0]?.name]).toEqual([60_001, "last"]);
    expect(["web-499", "web-500"].map((name) => isListed({ namespace: "apps", name }))).toEqual([true, false]);
  });

  it("with names that are no names of Kubernetes, which reach no path and have no uid", async () => {
    const names = ["__proto__", "../../etc", "", "a\u0000b", "web 0", "x".repeat(100_000), "constructor"];
    await start(names.map((name, nth) => pod(name, `0000:3b:02.${nth}`)));
    await gave("../../../etc/passwd", [vf0, vf1]);
    await hasLogs("apps_web-0_x");
    const { byId } = await read();
    expect([...byId.values()].map(([holder]) => [holder?.name, holder?.uid])).toEqual(
      names.map((name) => [name, undefined]),
    );
  });

  it("of a claim that was deleted before its pod, which the kubelet still lists", async () => {
    await start([claiming("web-0", "0000-3b-02-1")]);
    expect((await read()).byId.get(vf1)).toEqual([
      { namespace: "apps", name: "web-0", via: "dra", resource: draDriver },
    ]);
  });
});

describe("the uid of a pod", () => {
  it("is absent if no directory can have the name of the pod", async () => {
    const name = `a${"-b".repeat(126)}`;
    await start([pod(name, vf0)]);
    await gave(uids.next, [vf0]);
    expect((await read()).byId.get(vf0)).toEqual([{ namespace: "apps", name, via: "device-plugin", resource: lab }]);
  });

  it("is that of the pod that the kubelet gave the device to, if the pod has this name", async () => {
    await start([pod("web-0", vf0)]);
    await gave(uids.next, [vf0]);
    await hasLogs(`apps_web-0_${uids.old}`, `apps_web-0_${uids.next}`);
    expect((await read()).byId.get(vf0)?.[0]?.uid).toBe(uids.next);
  });

  it.each([
    { what: "there is no checkpoint", prepare: () => hasLogs(`apps_web-0_${uids.old}`) },
    { what: "the pod has no directory of logs", prepare: () => gave(uids.old, [vf0]) },
    {
      what: "the uid is that of a pod with another name",
      prepare: () => Promise.all([gave(uids.old, [vf0]), hasLogs(`apps_other_${uids.old}`, `apps_web-0_${uids.next}`)]),
    },
    {
      what: "the device was given as one of another resource",
      prepare: () => Promise.all([gave(uids.old, [vf0], "openshift.io/other"), hasLogs(`apps_web-0_${uids.old}`)]),
    },
    {
      what: "the files of the kubelet are directories",
      prepare: async () => {
        await mkdir(join(directory, "device-plugins/kubelet_internal_checkpoint"), { recursive: true });
        await mkdir(join(directory, "dra_manager_state"));
        await hasLogs(`apps_web-0_${uids.old}`);
      },
    },
    {
      what: "the checkpoint is half a file",
      prepare: () =>
        Promise.all([
          write("kubelet/device-plugins/kubelet_internal_checkpoint", '{"Data":{"PodDeviceEntries":[{'),
          hasLogs(`apps_web-0_${uids.old}`),
        ]),
    },
    {
      what: "the checkpoint has another form",
      prepare: () =>
        Promise.all([
          write("kubelet/device-plugins/kubelet_internal_checkpoint", { Data: { PodDeviceEntries: { "0": [null] } } }),
          hasLogs(`apps_web-0_${uids.old}`),
        ]),
    },
  ])("is absent if $what", async ({ prepare }) => {
    await start([pod("web-0", vf0)]);
    await prepare();
    expect((await read()).byId.get(vf0)).toEqual([
      { namespace: "apps", name: "web-0", via: "device-plugin", resource: lab },
    ]);
  });

  it.each([
    { version: "1.34", content: { Data: JSON.stringify({ Entries: [claimState([uids.old])] }), Checksum: 1 } },
    { version: "1.31", content: { version: "v1", entries: [claimState([uids.old])], checksum: 1 } },
  ])("of a claimed device is in the state of claims of Kubernetes $version", async ({ content }) => {
    await start([claiming("web-0", "0000-3b-02-1")]);
    await write("kubelet/dra_manager_state", content);
    await hasLogs(`apps_web-0_${uids.old}`);
    expect((await read()).byId.get(vf1)?.[0]).toMatchObject({ name: "web-0", uid: uids.old, via: "dra" });
  });

  it("of a claim that several pods share is that of the pod with the name", async () => {
    await start([claiming("web-0", "0000-3b-02-1")]);
    await write("kubelet/dra_manager_state", { entries: [claimState([uids.old, uids.next])] });
    await hasLogs(`apps_web-0_${uids.old}`, `apps_web-1_${uids.next}`);
    expect((await read()).byId.get(vf1)?.[0]?.uid).toBe(uids.old);
  });
});

describe("a claimed device that the kubelet does not list", () => {
  it("is that of the pods that the claim was prepared for, whose names may not be known", async () => {
    await start([pod("web-0")]);
    await write("kubelet/dra_manager_state", { entries: [claimState([uids.old, uids.next])] });
    await hasLogs(`apps_web-0_${uids.old}`);
    expect((await read()).byId.get(vf1)).toEqual([
      { namespace: "apps", name: "web-0", uid: uids.old, via: "dra", resource: draDriver },
      { namespace: "apps", name: "", uid: uids.next, via: "dra", resource: draDriver },
    ]);
  });
});
