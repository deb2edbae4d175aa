// SPDX-License-Identifier: Apache-2.0
/**
 * A real API server for tests: etcd and kube-apiserver on loopback, and a controller manager where one is wanted. It can
 * be stopped, killed and started again on the same address with the same data, as clients must live through that.
 * Usage: `await cluster.killApiServer(); await cluster.startApiServer()` (start-control-plane.ts makes one)
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { probe } from "./api-probe.ts";
import { readAuditLog, type AuditEvent } from "./audit-log.ts";
import type { Client, ControlPlaneFiles } from "./control-plane-files.ts";
import {
  apiServerFlags,
  controllerManagerFlags,
  controlPlaneFiles,
  etcdFlags,
  etcdUrl,
  serverUrl,
  type ControlPlaneLayout,
} from "./control-plane-flags.ts";
import { compactEtcd } from "./etcd.ts";
import { eventually } from "./eventually.ts";
import { spawnGuarded, type GuardedProcess } from "./guarded-process.ts";
import { runKubectl, type KubectlOptions } from "./kubectl.ts";
import { readEnds } from "./log-ends.ts";
import type { PodAccount } from "./pod-process.ts";
import { TestingError } from "./testing-error.ts";

export interface ControlPlaneOptions {
  /** A directory that `ensureBinaries` returned. Default: that of `binariesFor` these options. */
  readonly binaries?: string;
  /** Runs kube-controller-manager too: service accounts, garbage collection, DaemonSets. */
  readonly controllerManager?: boolean;
  /** Records every request, for `auditEvents`. */
  readonly auditLog?: boolean;
  /** Where all files go. It stays, and the next start there serves the same objects. Else: a directory that goes at the end. */
  readonly dataDir?: string;
}

const components = ["etcd", "kube-apiserver", "kube-controller-manager"] as const;
/** An idle machine needs 3 to 5 s, and the controller manager as much again. */
const readyWithinMs = 90_000;
const stopWithinMs = 30_000;

type Component = (typeof components)[number];

/** A running control plane. Disposing of it kills all its processes. */
export class ControlPlane implements AsyncDisposable {
  /** "https://127.0.0.1:<port>" */
  readonly server: string;
  /** Path of a kubeconfig for the cluster's administrator (system:masters). */
  readonly kubeconfig: string;
  /** Where the logs are, among others. */
  readonly dataDir: string;
  /** Settles when a process ends that nobody told to: a crash. */
  readonly failed: Promise<TestingError>;
  readonly #options: ControlPlaneOptions & { readonly binaries: string };
  readonly #layout: ControlPlaneLayout;
  readonly #files: ControlPlaneFiles;
  readonly #running = new Map<Component, GuardedProcess>();
  readonly #fail: (error: TestingError) => void;
  #clients = 0;

  /** Starts nothing yet: use `startControlPlane`. */
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
    this.kubeconfig = join(layout.dataDir, controlPlaneFiles.admin);
    const { promise, resolve } = Promise.withResolvers<TestingError>();
    this.failed = promise;
    this.#fail = resolve;
  }

  /** Part of `startControlPlane`. */
  async start(): Promise<void> {
    this.#spawn("etcd", etcdFlags(this.#layout));
    await this.startApiServer();
    if (!this.#layout.controllerManager) return;
    this.#spawn("kube-controller-manager", controllerManagerFlags(this.#layout));
    await this.#untilReady("/api/v1/namespaces/default/serviceaccounts/default");
  }

  /** Starts it again after stopApiServer or killApiServer: same address, same objects, same certificates. */
  async startApiServer(): Promise<void> {
    this.#spawn("kube-apiserver", apiServerFlags(this.#layout));
    await this.#untilReady("/readyz");
    await this.#untilReady("/api/v1/namespaces/default"); // made after the server calls itself ready
  }

  /** Ends it as a rollout does, by SIGTERM: it finishes what is in flight and ends all watches in order. */
  async stopApiServer(): Promise<void> {
    const server = this.#take("kube-apiserver");
    server?.signal("TERM");
    const timer = setTimeout(() => void server?.kill(), stopWithinMs);
    await server?.exited;
    clearTimeout(timer);
  }

  /** Ends it as a crash does: connections break off. */
  async killApiServer(): Promise<void> {
    await this.#take("kube-apiserver")?.kill();
  }

  /**
   * Makes etcd forget the past. The API server still remembers some of it: for 410 Gone on an old resourceVersion
   * start it again too.
   */
  async compactEtcd(): Promise<void> {
    await compactEtcd(etcdUrl(this.#layout));
  }

  /** Path of a kubeconfig for a user, or for the bearer of a token. */
  async clientFor(client: Client): Promise<string> {
    this.#clients += 1;
    return this.#files.writeKubeconfig(`client-${this.#clients}`, client);
  }

  /** A new token of a service account, made if it is not there, with what its pods know of this server. */
  async podAccount(namespace: string, serviceAccount: string): Promise<PodAccount> {
    const of = [serviceAccount, "-n", namespace];
    const object = await this.kubectl(["create", "serviceaccount", ...of, "--dry-run=client", "-o", "json"]);
    await this.kubectl(["apply", "-f", "-"], { input: object });
    const token = await this.kubectl(["create", "token", ...of, "--duration=24h"]);
    return { server: this.server, authority: this.#files.admin.ca, token: token.trim(), namespace };
  }

  /** What kubectl writes to stdout. As administrator, unless `options` names another kubeconfig. */
  async kubectl(args: readonly string[], options: Partial<KubectlOptions> = {}): Promise<string> {
    return runKubectl(join(this.#options.binaries, "kubectl"), args, { kubeconfig: this.kubeconfig, ...options });
  }

  /** Creates or updates all CRDs in a file or directory, and waits until their kinds are served. */
  async applyCrds(path: string): Promise<void> {
    await this.kubectl(["apply", "--server-side", "--force-conflicts", "-f", path]);
    await this.kubectl(["wait", "--for=condition=Established", "--timeout=60s", "-f", path]);
  }

  /** Every finished request so far, if `auditLog` was asked for; one that was just answered may be missing yet. */
  async auditEvents(): Promise<readonly AuditEvent[]> {
    return readAuditLog(join(this.dataDir, controlPlaneFiles.auditLog));
  }

  /** Path of the file that has all a process wrote, over all its starts. */
  logOf(component: Component): string {
    return join(this.dataDir, `${component}.log`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const names = [...this.#running.keys()];
    await Promise.all(names.map(async (name) => this.#take(name)?.kill()));
    if (this.#options.dataDir === undefined) await rm(this.dataDir, { recursive: true, force: true });
  }

  #spawn(component: Component, flags: readonly string[]): void {
    if (this.#running.has(component)) throw new TestingError("start", `${component} runs already`);
    const started = spawnGuarded(join(this.#options.binaries, component), flags, { log: this.logOf(component) });
    this.#running.set(component, started);
    const ended = async () => {
      if (this.#running.get(component) === started) this.#fail(await this.#report(`${component} ended`));
    };
    started.exited.then(ended, ended);
  }

  /** From here on its end is no crash. */
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
