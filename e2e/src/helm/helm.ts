// SPDX-License-Identifier: Apache-2.0
/**
 * Helm is one version of the program, with a cluster, a namespace, and its own directory for settings and caches.
 */
import { goPrograms } from "@switchyard/go-programs";
import { isRecord } from "@switchyard/kube";
import { downloadGoModule } from "@switchyard/testing";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";

/** Checksum of the module of each release, as go.sum has it. */
const checksums = {
  "1.3.0": "h1:hQ9xI/SQN3bz1CrSbKByVZX/cc8IvWoaN7+OGmLFKUU=",
  "1.4.0": "h1:s7lf2nexiEbDJwmmhX5+ML8eVaU3XwvmMmY1gu92k+0=",
  "1.5.0": "h1:xH8g2P+L99qZjAu/rPikxe483vhpUoJ9+j7yU4JhDlw=",
  "1.6.0": "h1:rzxyQm7Blreak47QCxvUEscTWgFzp+rBPcKXy5RewgE=",
} as const;

/** All of them, the oldest first. */
export const upstreamReleases = Object.keys(checksums).filter((name): name is UpstreamRelease => name in checksums);

/** The releases whose way to Switchyard is tested. */
type UpstreamRelease = keyof typeof checksums;

/** The versions with which the chart is tested. */
export const helmVersions = ["helm3", "helm4"] as const;
/** Also older ones, with which a release of upstream may have been installed. */
export type HelmVersion = (typeof helmVersions)[number] | "helm3.17" | "helm4.0";

/** The result of a run that ended. */
export interface HelmResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Values for `--values -`. */
export type Values = Readonly<Record<string, unknown>>;

/** Where Helm works. */
export interface HelmPlace {
  /** Undefined for commands that need no cluster. */
  readonly kubeconfig?: string;
  readonly namespace: string;
  readonly directory: string;
}

export interface Helm {
  readonly version: HelmVersion;
  /** Runs Helm with values. Returns the result of a failure, too. */
  try(args: readonly string[], values?: Values): Promise<HelmResult>;
  /** Runs Helm with values and returns its standard output. Rejects with Helm's words if it fails. */
  run(args: readonly string[], values?: Values): Promise<string>;
}

/** Builds Helm if needed. Rejects if Go is missing. */
export async function prepareHelm(version: HelmVersion, place: HelmPlace): Promise<Helm> {
  const { kubeconfig, namespace, directory } = place;
  const program = join(await goPrograms(version), "helm");
  const home = join(directory, version);
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    HELM_NAMESPACE: namespace,
    HELM_CACHE_HOME: join(home, "cache"),
    HELM_CONFIG_HOME: join(home, "config"),
    HELM_DATA_HOME: join(home, "data"),
    ...(kubeconfig === undefined ? {} : { KUBECONFIG: kubeconfig }),
  };
  const attempt = (args: readonly string[], values?: Values): Promise<HelmResult> => {
    const all = values === undefined ? args : [...args, "--values", "-"];
    return new Promise((resolve) => {
      const running = execFile(program, all, { env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
        resolve({ status: error === null ? 0 : typeof error.code === "number" ? error.code : -1, stdout, stderr });
      });
      running.stdin?.on("error", () => undefined); // EPIPE: Helm ended before it read all values
      running.stdin?.end(values === undefined ? "" : JSON.stringify(values));
    });
  };
  return {
    version,
    try: attempt,
    async run(args, values) {
      const { status, stdout, stderr } = await attempt(args, values);
      if (status !== 0) throw new Error(`helm ${args.join(" ")} ended with ${status}:\n${stderr}`);
      return stdout;
    },
  };
}

/** Reads the objects of a manifest, such as the output of `helm template`. */
export function readManifest(text: string): readonly Readonly<Record<string, unknown>>[] {
  return parseAllDocuments(text).flatMap((document) => {
    const object: unknown = document.toJS();
    return isRecord(object) ? [object] : [];
  });
}

/**
 * upstreamChart returns the directory of upstream's chart of a release, from the Go module of that release. Nothing of it is in
 * this repository: Go downloads the module into its cache, and its checksum must be the one below. Rejects if Go is missing, the
 * module cannot be downloaded, or its checksum differs.
 */
export async function upstreamChart(release: UpstreamRelease): Promise<string> {
  const module = `github.com/k8snetworkplumbingwg/sriov-network-operator@v${release}`;
  const directory = await downloadGoModule(module, checksums[release]);
  return join(directory, "deployment/sriov-network-operator-chart");
}
