// SPDX-License-Identifier: Apache-2.0
/** Files that `switchyard` reads: manifests of validate and render, archives, and what it prints. */
import { FuzzFinding, requireEqual, type FuzzTarget } from "@switchyard/testing/fuzz";
import { gzipSync } from "node:zlib";
import { isDeepStrictEqual } from "node:util";
import { parse, type Tags } from "yaml";
import type { JsonObject } from "../json.ts";
import { toYaml } from "../output/to-yaml.ts";
import { runCli } from "../testing/run-cli.ts";
import { parseManifests } from "./parse-manifests.ts";
import { readTar, TarError } from "./read-tar.ts";

const policy = `apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata:
  name: fast
  namespace: sriov-network-operator
spec:
  resourceName: fast
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
  numVfs: 0o10
  nicSelector:
    pfNames:
    - ens1f0#0-3
  deviceType: netdevice
`;
const list = `apiVersion: v1
items:
- apiVersion: v1
  kind: Node
  metadata:
    name: a
- apiVersion: v1
  kind: Node
  metadata: {name: b}
kind: List
`;
const network = `{"apiVersion":"sriovnetwork.openshift.io/v1","kind":"SriovNetwork","metadata":{"name":"n","namespace":"sriov-network-operator"},
"spec":{"resourceName":"fast","networkNamespace":"default","ipam":"{\\"type\\":\\"static\\"}","vlan":7,"metaPlugins":"{\\"type\\":\\"tuning\\"}"}}`;
const pod = `apiVersion: v1
kind: Pod
metadata: {name: p, namespace: n, annotations: {k8s.v1.cni.cncf.io/networks: '[{"name":"n"}]'}}
spec: {nodeName: w, containers: [{name: c, resources: {requests: {openshift.io/fast: 1}}}]}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodeState
metadata: {name: w, namespace: sriov-network-operator}
status: {syncStatus: Succeeded, interfaces: [{pciAddress: "0000:3b:00.0", name: ens1f0, totalvfs: 8, numVfs: 1, Vfs: [{vfID: 0, pciAddress: "0000:3b:02.0"}]}]}
`;

/** Texts of the two fast readers of plain YAML and of JSON mean the same to the complete reader, which a comment asks for. */
function compareReaders(text: string): void {
  const fast = parseManifests(text, "f");
  const complete = parseManifests(`# complete\n${text}`, "f");
  const objects = (parsed: typeof fast): readonly JsonObject[] => parsed.manifests.map(({ object }) => object);
  if (fast.problems.length > 0 || complete.problems.length > 0) return;
  requireEqual("the fast reader of YAML and the complete one", objects(fast), objects(complete));
}

/** What is printed is read as what it was printed from. */
function readBack(text: string): void {
  for (const { object } of parseManifests(text, "f").manifests) {
    const printed = toYaml(object);
    const expected: unknown = JSON.parse(
      JSON.stringify(object, (_, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value)),
    );
    for (const version of ["1.1", "1.2"] as const) {
      const read: unknown = parse(printed, { version, logLevel: "silent", maxAliasCount: 0, customTags: withoutTimes });
      if (!isDeepStrictEqual(read, expected))
        throw new FuzzFinding(`YAML ${version} reads what toYaml prints otherwise: ${printed.slice(0, 200)}`);
    }
    if (!isDeepStrictEqual(parseManifests(printed, "f").manifests[0]?.object, expected))
      throw new FuzzFinding(`parseManifests reads what toYaml prints otherwise: ${printed.slice(0, 200)}`);
  }
}

/** kubectl knows neither numbers of seconds nor timestamps. */
function withoutTimes(tags: Tags): Tags {
  return tags.filter((tag) => typeof tag === "string" || (tag.format !== "TIME" && !tag.tag.endsWith(":timestamp")));
}

const exitCodes = [0, 1, 2];

/** Each verb ends with its codes, and prints no stack. */
async function runVerbs(text: string): Promise<void> {
  for (const verb of ["validate", "render", "doctor", "vfs", "plan"]) {
    const { code, err } = await runCli([verb, "-f", "-"], { input: text });
    if (!exitCodes.includes(code) || /\n\s+at .*:\d+:\d+/.test(err))
      throw new FuzzFinding(`switchyard ${verb} ends with ${code}: ${err.slice(0, 300)}`);
  }
}

async function readArchive(input: Buffer): Promise<void> {
  const limits = { fileBytes: 64 * 1024, wantedBytes: 256 * 1024, archiveBytes: 4 * 1024 * 1024, nameBytes: 4_096 };
  try {
    const { files } = await readTar(input, (name) => name.endsWith(".yaml"), limits);
    for (const { name, text } of files) {
      if (Buffer.byteLength(name) > 3 * limits.nameBytes || text.length > limits.fileBytes)
        throw new FuzzFinding("a file is beyond a limit");
    }
  } catch (error) {
    if (!(error instanceof TarError)) throw error;
  }
}

function entry(name: string, type: string, content: string): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write(content.length.toString(8).padStart(11, "0"), 124);
  header.write(type, 156);
  header.write("ustar", 257);
  return Buffer.concat([header, Buffer.from(content), Buffer.alloc((512 - (content.length % 512)) % 512)]);
}
const archive = Buffer.concat([
  entry("a.yaml", "0", "a: 1\n"),
  entry("x", "x", "18 path=b/c.yaml\n\n"),
  entry("y", "0", "b: 1\n"),
  entry("l", "L", "long/name.yaml\0"),
  entry("z", "", "c"),
]);

const seeds = [
  policy,
  list,
  network,
  pod,
  `${policy}---\n${list}`,
  "a: &x [1]\nb: *x\napiVersion: v1\nkind: Node\nc: !!binary aGk=\nd: .inf\n",
];
const words = [
  "apiVersion: v1\nkind: Node\n",
  "metadata:\n  name: a\n",
  "'",
  '"',
  "~",
  "0b11",
  "1_000",
  ".5",
  "1e3",
  "12:30",
  "2024-01-01",
  "yes",
  "off",
  "NaN",
  "%YAML 1.1\n",
];

export const targets: readonly FuzzTarget[] = [
  {
    name: "manifests",
    seeds,
    words,
    run: (input) => {
      compareReaders(input.toString("utf8"));
    },
  },
  {
    name: "printed-yaml",
    seeds,
    words,
    run: (input) => {
      readBack(input.toString("utf8"));
    },
  },
  { name: "verbs", seeds, words, run: (input) => runVerbs(input.toString("utf8")) },
  { name: "archives", seeds: [archive, gzipSync(archive)], run: readArchive },
];
