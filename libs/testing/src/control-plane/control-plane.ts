// SPDX-License-Identifier: Apache-2.0
/**
 * ControlPlane is a real API server for tests: etcd, kube-apiserver and optionally kube-controller-manager on loopback. The
 * API server can be stopped, killed and restarted at the same address with the same data. startControlPlane makes one.
 * Usage: `await cluster.killApiServer(); await cluster.startApiServer();`
 */
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { compactEtcd, probe } from "./server-requests.ts";
import { readAuditLog, type AuditEvent } from "./audit-log.ts";
import type { Client, ControlPlaneFiles } from "./control-plane-files.ts";
import {
  apiServerFlags,
  controllerManagerFlags,
  controlPlaneFiles,
  etcdFlags,
  etcdUrl,
  schedulerFlags,
  serverUrl,
  type ControlPlaneLayout,
} from "./control-plane-flags.ts";
import { eventually } from "../eventually.ts";
import { readEnds, spawnGuarded, type GuardedProcess } from "../guarded-process.ts";
import { runKubectl, type KubectlOptions } from "./kubectl.ts";
import type { PodAccount } from "./pod-process.ts";
import { TestingError } from "../testing-error.ts";

export interface ControlPlaneOptions {
  /** Directory of the binaries. Default: the result of ensureBinaries for these options. */
  readonly binaries?: string;
  /** Also run kube-controller-manager, for service accounts, garbage collection and DaemonSets. */
  readonly controllerManager?: boolean;
  /**
   * Unix socket of an HTTP CONNECT proxy, through which the API server reaches kubelets and webhooks. A kube-scheduler and a
   * kube-controller-manager run, too.
   */
  readonly nodeProxySocket?: string;
  /** Log every request for `auditEvents`. */
  readonly auditLog?: boolean;
  /** Directory for all files. It is kept, and a later start serves the same objects. Default: a temporary directory. */
  readonly dataDir?: string;
}

const components = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;
/** An idle machine needs 3 to 5 s, and as long for the controller manager. */
const readyWithinMs = 90_000;
const stopWithinMs = 30_000;

type Component = (typeof components)[number];

/** A running control plane. Disposing it kills all its processes. */
export class ControlPlane implements AsyncDisposable {
  /** "https://127.0.0.1:<port>" */
  readonly server: string;
  /** Path of a kubeconfig for the cluster's administrator (system:masters). */
  readonly kubeconfig: string;
  /** Directory of the logs and other files. */
  readonly dataDir: string;
  /** Directory of the programs, such as kubectl. */
  readonly binaries: string;
  /** Resolves when a process ends unexpectedly. */
  readonly failed: Promise<TestingError>;
  readonly #options: ControlPlaneOptions & { readonly binaries: string };
  readonly #layout: ControlPlaneLayout;
  readonly #files: ControlPlaneFiles;
  readonly #running = new Map<Component, GuardedProcess>();
  readonly #fail: (error: TestingError) => void;
  #clients = 0;

  /** Does not start any process; use startControlPlane. */
  constructor(
    options: ControlPlaneOptions & { readonly binaries: string },
    layout: ControlPlaneLayout,
    files: ControlPlaneFiles,
  ) {
    this.#options = options;
    this.#layout = layout;
    this.#files = files;
    this.server = serverUrl(layout);
    this.dataDir = layout.dataDir;
    this.binaries = options.binaries;
    this.kubeconfig = join(layout.dataDir, controlPlaneFiles.admin);
    const { promise, resolve } = Promise.withResolvers<TestingError>();
    this.failed = promise;
    this.#fail = resolve;
  }

  /** Starts all processes and waits until they are ready. Called by startControlPlane. */
  async start(): Promise<void> {
    this.#spawn("etcd", etcdFlags(this.#layout));
    await this.startApiServer();
    if (!this.#layout.controllerManager) return;
    this.#spawn("kube-controller-manager", controllerManagerFlags(this.#layout));
    if (this.#layout.nodeProxySocket !== undefined) this.#spawn("kube-scheduler", schedulerFlags(this.#layout));
    await this.#untilReady("/api/v1/namespaces/default/serviceaccounts/default");
  }

  /** Starts the API server again after stopApiServer or killApiServer, with the same address, objects and certificates. */
  async startApiServer(): Promise<void> {
    this.#spawn("kube-apiserver", apiServerFlags(this.#layout));
    await this.#untilReady("/readyz");
    await this.#untilReady("/api/v1/namespaces/default"); // created after the server reports ready
  }

  /** Stops the API server by SIGTERM, as a rollout does: it finishes running requests and ends all watches. */
  async stopApiServer(): Promise<void> {
    const server = this.#take("kube-apiserver");
    server?.signal("TERM");
    const timer = setTimeout(() => void server?.kill(), stopWithinMs);
    await server?.exited;
    clearTimeout(timer);
  }

  /** Kills the API server; its connections break. */
  async killApiServer(): Promise<void> {
    await this.#take("kube-apiserver")?.kill();
  }

  /**
   * Compacts etcd. The API server still has old versions in memory: to get 410 Gone for an old resourceVersion, restart it,
   * too.
   */
  async compactEtcd(): Promise<void> {
    await compactEtcd(etcdUrl(this.#layout));
  }

  /**
   * Copies the data of etcd, which is stopped meanwhile. Returns a function that puts the copy in place of the present data, as
   * an administrator restores a backup: API server and etcd are killed, and started again.
   */
  async backUpEtcd(): Promise<() => Promise<void>> {
    const data = join(this.dataDir, controlPlaneFiles.etcdData);
    const backup = `${data}.backup`;
    await this.#take("etcd")?.kill();
    await rm(backup, { recursive: true, force: true });
    await cp(data, backup, { recursive: true });
    this.#spawn("etcd", etcdFlags(this.#layout));
    await this.#untilReady("/readyz");
    return async () => {
      await this.killApiServer();
      await this.#take("etcd")?.kill();
      await rm(data, { recursive: true });
      await cp(backup, data, { recursive: true });
      this.#spawn("etcd", etcdFlags(this.#layout));
      await this.startApiServer();
    };
  }

  /** Writes a kubeconfig for a user or a token and returns its path. */
  async clientFor(client: Client): Promise<string> {
    this.#clients += 1;
    return this.#files.writeKubeconfig(`client-${this.#clients}`, client);
  }

  /** Creates a service account if needed and returns a new token of it with the data that its pods get. */
  async podAccount(namespace: string, serviceAccount: string): Promise<PodAccount> {
    const of = [serviceAccount, "-n", namespace];
    const object = await this.kubectl(["create", "serviceaccount", ...of, "--dry-run=client", "-o", "json"]);
    await this.kubectl(["apply", "-f", "-"], { input: object });
    const token = await this.kubectl(["create", "token", ...of, "--duration=24h"]);
    return { server: this.server, authority: this.#files.admin.ca, token: token.trim(), namespace };
  }

  /** Runs kubectl as administrator, or with the kubeconfig of `options`, and returns its standard output. */
  async kubectl(args: readonly string[], options: Partial<KubectlOptions> = {}): Promise<string> {
    return runKubectl(join(this.#options.binaries, "kubectl"), args, { kubeconfig: this.kubeconfig, ...options });
  }

  /** Creates or updates CRDs, those of a file or directory or these objects, and waits until their kinds are served. */
  async applyCrds(crds: string | readonly object[]): Promise<void> {
    const apply = ["apply", "--server-side", "--force-conflicts", "-f"];
    if (typeof crds === "string") await this.kubectl([...apply, crds]);
    else
      await this.kubectl([...apply, "-"], { input: JSON.stringify({ apiVersion: "v1", kind: "List", items: crds }) });
    await this.kindsServed();
  }

  /** Waits until the kinds of all CRDs are served. "kubectl wait" fails for a CRD that is so new that it has no conditions. */
  async kindsServed(): Promise<void> {
    const established = `{.status.conditions[?(@.type=="Established")].status}`;
    const output = `jsonpath={range .items[*]}{.metadata.name} ${established}{"\\n"}{end}`;
    const areServed = async (): Promise<boolean> => {
      const lines = (await this.kubectl(["get", "crd", "-o", output])).split("\n").filter((line) => line !== "");
      const missing = lines.filter((line) => !line.endsWith(" True"));
      if (missing.length > 0) throw new Error(`not established: ${missing.join(", ")}`);
      return true;
    };
    await eventually("the kinds of all CRDs are served", areServed, { withinMs: 60_000 });
  }

  /** Returns all finished requests, with the option `auditLog`. A request that has just finished may be missing. */
  async auditEvents(): Promise<readonly AuditEvent[]> {
    return readAuditLog(join(this.dataDir, controlPlaneFiles.auditLog));
  }

  /** Returns the path of the log of a process, which has the output of all its starts. */
  logOf(component: Component): string {
    return join(this.dataDir, `${component}.log`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const names = [...this.#running.keys()];
    await Promise.all(names.map(async (name) => this.#take(name)?.kill()));
    if (this.#options.dataDir === undefined) await rm(this.dataDir, { recursive: true, force: true });
  }

  #spawn(component: Component, flags: readonly string[]): void {
    if (this.#running.has(component)) throw new TestingError("start", `${component} is already running`);
    const started = spawnGuarded(join(this.#options.binaries, component), flags, { log: this.logOf(component) });
    this.#running.set(component, started);
    const ended = async () => {
      if (this.#running.get(component) === started) this.#fail(await this.#report(`${component} ended`));
    };
    started.exited.then(ended, ended);
  }

  /** Returns the process. Its end is not a crash from now on. */
  #take(component: Component): GuardedProcess | undefined {
    const found = this.#running.get(component);
    this.#running.delete(component);
    return found;
  }

  async #untilReady(path: string): Promise<void> {
    const crashed = new AbortController();
    void this.failed.then((error) => {
      crashed.abort(error);
    });
    const isReady = async () => (await probe(this.server + path, this.#files.admin)) === 200;
    try {
      await eventually(path, isReady, { withinMs: readyWithinMs, signal: crashed.signal });
    } catch (error) {
      throw crashed.signal.aborted
        ? await this.failed
        : await this.#report(`no 200 on ${path} within ${readyWithinMs} ms`, error);
    }
  }

  async #report(what: string, cause?: unknown): Promise<TestingError> {
    const ends = await readEnds(components.map((each) => this.logOf(each)));
    return new TestingError("start", [`control plane in ${this.dataDir}: ${what}`, ...ends].join("\n"), { cause });
  }
}
