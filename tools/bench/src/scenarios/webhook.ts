// SPDX-License-Identifier: Apache-2.0
/** The admission webhook with a real API server and the objects of a fleet. */
import {
  nodes as nodeType,
  pods,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
} from "@switchyard/api";
import { objectPath } from "@switchyard/kube";
import { mapConcurrently } from "@switchyard/service";
import { certificateFlags, issueWebhookCertificate, writeWebhookCertificate } from "@switchyard/test-cluster";
import { findFreePorts, renderTable } from "@switchyard/testing";
import { join } from "node:path";
import { startBenchCluster } from "../cluster/bench-cluster.ts";
import {
  configMetadata,
  firstPolicy,
  morePolicies,
  nodeName,
  nodeObject,
  operatorNamespace,
  profiles,
  reportedStatus,
  type ProfileName,
} from "../cluster/nodes.ts";
import { createPlainClient, type PlainClient } from "../cluster/plain-client.ts";
import {
  atMost,
  complaintLines,
  quantile,
  showMb,
  showMs,
  showRatio,
  showSeconds,
  type Goal,
} from "../harness/report.ts";
import { count, sharedOptions, someOf, type Options } from "../harness/options.ts";
import { untilIdle } from "../harness/proc.ts";
import { countRequests, total } from "../harness/requests.ts";
import { forEachIndex, startPart, type Run } from "../harness/run.ts";
import { defineScenario, type CommonFigures } from "../harness/scenario.ts";
import { buildApp, bundleProgram, createMeasuredService, type MeasuredService } from "../harness/service.ts";
import { askReview, createReviews, type KnownReview, type ReviewAnswer, type Reviews } from "./webhook-reviews.ts";

/** One load on a server. */
export interface LoadResult {
  readonly title: string;
  readonly atOnce: number;
  readonly round: number;
  /** Percentiles of the latencies, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** CPU time of the server for 100 reviews. */
  readonly cpuSeconds: number;
  /** Number of wrong decisions. */
  readonly wrong: number;
}

/** The result for one profile of nodes. */
export interface ProfileResult extends CommonFigures {
  readonly profile: ProfileName;
  /** Number of policies in the cluster. */
  readonly policies: number;
  /** Seconds until /readyz succeeds: of the first start and of a restart. */
  readonly startSeconds: readonly number[];
  readonly loads: readonly LoadResult[];
  /** The same loads on the server that admits everything, one round. */
  readonly baseline: readonly LoadResult[];
  readonly comparison: AnswerComparison;
  readonly rssMb: number;
  /** The largest RSS of all processes. */
  readonly peakMb: number;
  readonly baselinePeakMb: number;
  /** Number of lists and reads that the webhook requested from the API server during the reviews. */
  readonly lists: number;
}

interface AnswerComparison {
  readonly reviews: number;
  /** Number of decisions or reasons that differ from those of a single review, plus wrong decisions of single reviews. */
  readonly wrong: number;
  /** Number of answers with other warnings. The webhook omits warnings that take too long on a busy machine. */
  readonly otherWarnings: number;
}

export interface WebhookFigures extends CommonFigures {
  readonly profiles: readonly ProfileResult[];
}

const limits = { p99Ms: { alone: 20, together: 60 }, cpuSecondsPer100: 1, peakMb: 130 };

const options = {
  nodes: count("number of nodes", { standard: 1000, quick: 10, range: [1, 65_536] }),
  pods: count("number of pods, a fifth of them with VFs", { standard: 10_000, quick: 50, range: [0, 200_000] }),
  profile: {
    help: "6 PFs; 2 PFs with 128 VFs each; the same with some VFs in pods, different ones on each node, or with all",
    kind: someOf("pf6", "vf256", "vf256-in-pods", "vf256-held"),
    default: "pf6,vf256,vf256-in-pods",
    quick: "pf6",
  },
  reviews: count("number of reviews of each load", { standard: 300, quick: 8, range: [8, 100_000] }),
  rounds: count("how often each load is repeated", { standard: 3, quick: 1, range: [1, 20] }),
  cpuProf: sharedOptions.cpuProf,
};

type WebhookOptions = Options<typeof options>;

export const webhook = defineScenario({
  name: "webhook",
  summary: "the admission webhook with a real API server and the objects of 1,000 nodes",
  baseline: "a server that admits every review without reading it",
  options,

  async measure(chosen, run): Promise<WebhookFigures> {
    run.progress.at("building the webhook");
    const scripts = {
      webhook: await buildApp("webhook"),
      bareServer: await bundleProgram("tools/bench/src/scenarios/bare-server.ts"),
    };
    const results: ProfileResult[] = [];
    for (const profile of chosen.profile) results.push(await measureProfile(profile, chosen, { run, scripts }));
    const stopSeconds = results.flatMap((result) => result.stopSeconds ?? []);
    return { versions: results[0]?.versions ?? {}, profiles: results, stopSeconds };
  },

  goals: ({ profiles }, { nodes }) => profiles.flatMap((result) => profileGoals(result, nodes)),

  render: ({ profiles }, { nodes, pods: podCount, reviews, rounds }) => [
    `Webhook, ${nodes} nodes, ${podCount} pods, ${reviews} reviews per load, best and worst of ${rounds} rounds`,
    "Bare server: an HTTPS server in Node that admits the same reviews without reading them",
    ...profiles.flatMap(profileLines),
  ],
});

function profileLines(result: ProfileResult): readonly string[] {
  const { profile, policies, startSeconds, loads, baseline, comparison, rssMb, peakMb, baselinePeakMb, lists } = result;
  const [first, again] = startSeconds;
  return [
    "",
    `${profile}: ${policies} policies; ready after ${showSeconds(first)}, after a restart ${showSeconds(again)}; ` +
      `RSS ${showMb(rssMb)}, peak ${showMb(peakMb)} (bare server ${showMb(baselinePeakMb)}); ` +
      `${comparison.wrong} of ${comparison.reviews} mixed reviews with another decision than alone, ` +
      `${comparison.otherWarnings} with other warnings; ` +
      `${lists} lists or reads during the reviews`,
    "",
    renderTable(
      ["review", "p50", "p99", "worst round p99", "CPU of 100", "bare p50", "bare p99", "ratio of p50"],
      bestOf(loads).map(({ title, p50, p99, worstP99, cpuSeconds }) => {
        const bare = baseline.find((load) => load.title === title);
        const own = [showMs(p50), showMs(p99), showMs(worstP99), showSeconds(cpuSeconds)];
        return [title, ...own, showMs(bare?.p50), showMs(bare?.p99), showRatio(p50, bare?.p50)];
      }),
    ),
    ...complaintLines(result.complaints ?? []),
  ];
}

/** The best latencies of each load, because other work on the machine only adds to them, and its worst CPU time. */
function bestOf(loads: readonly LoadResult[]) {
  return [...Map.groupBy(loads, ({ title }) => title).values()].map((rounds) => ({
    ...rounds.reduce((a, b) => (a.p99 <= b.p99 ? a : b)),
    worstP99: Math.max(...rounds.map(({ p99 }) => p99)),
    cpuSeconds: Math.max(...rounds.map(({ cpuSeconds }) => cpuSeconds)),
  }));
}

/**
 * The goals for time, CPU and memory apply to fleets of at most 1,000 nodes that are all alike. For other fleets the
 * report only shows the figures.
 */
function profileGoals(result: ProfileResult, nodes: number): readonly Goal[] {
  const { profile, loads, comparison, peakMb, lists } = result;
  const sized = [
    ...bestOf(loads).flatMap(({ title, atOnce, p99, cpuSeconds }) => [
      atMost(`${profile}, ${title}, p99`, p99, atOnce === 1 ? limits.p99Ms.alone : limits.p99Ms.together, "ms"),
      atMost(`${profile}, ${title}, CPU of 100`, cpuSeconds, limits.cpuSecondsPer100, "s"),
    ]),
    atMost(`${profile}, peak RSS`, peakMb, limits.peakMb, "MB"),
  ];
  const wrong = loads.reduce((sum, load) => sum + load.wrong, comparison.wrong);
  return [
    ...(nodes > 1000 || profile === "vf256-in-pods" ? [] : sized),
    atMost(`${profile}, wrong decisions`, wrong, 0, ""),
    atMost(`${profile}, lists while reviewing`, lists, 0, ""),
  ];
}

interface ProfileRun {
  readonly run: Run;
  readonly scripts: Readonly<Record<"webhook" | "bareServer", string>>;
}

/** Measures the webhook in a new cluster whose nodes have one profile. */
async function measureProfile(
  profile: ProfileName,
  options: WebhookOptions,
  { run: whole, scripts }: ProfileRun,
): Promise<ProfileResult> {
  await using run = startPart(whole);
  const { progress, fail, signal } = run;
  const cluster = await startBenchCluster(run);
  const policies = await fillCluster(profile, options, run, cluster.admin);
  const [port = 0, barePort = 0] = await findFreePorts(2);
  const certificate = await issueWebhookCertificate();
  await writeWebhookCertificate(cluster, certificate);
  const listen = ["--listen-address", `127.0.0.1:${port}`, "--shutdown-delay", "100ms"];
  const service = await cluster.service("webhook", {
    script: scripts.webhook,
    args: ["--namespace", operatorNamespace, ...listen, ...certificateFlags(cluster)],
    cpuProf: options.cpuProf,
  });
  const startSeconds: number[] = [];
  const peaksMb: number[] = [];
  for (const start of ["first start", "restart"]) {
    progress.at(`${profile}: ${start} of the webhook`);
    const beginMs = performance.now();
    await service.start(signal);
    startSeconds.push((performance.now() - beginMs) / 1000);
    await untilIdle(service, signal);
    peaksMb.push(service.read().peakMb);
  }

  await service.requests.begin();
  const reviews = createReviews(profiles[profile]);
  const targetOf = (measured: MeasuredService, at: number): Target => {
    const server = `https://127.0.0.1:${at}`;
    const client = run.use(createPlainClient({ server, ca: certificate.ca }, mostAtOnce));
    return { service: measured, client, reviews, count: options.reviews, run };
  };
  const target = targetOf(service, port);
  const results: LoadResult[] = [];
  for (let round = 1; round <= options.rounds; round++) results.push(...(await measureLoads(target, profile, round)));
  progress.at(`${profile}: concurrent reviews of valid and invalid policies`);
  const comparison = await compareAnswers(target);
  const { reads } = countRequests(await service.requests.read());
  const { rssMb, peakMb } = service.read();
  const common = await cluster.end(service);

  const bareArgs = [...certificateFlags(cluster), String(barePort)];
  const log = join(cluster.directory, "bare-server.log");
  const bare = run.use(createMeasuredService({ script: scripts.bareServer, args: bareArgs, log, fail }));
  await bare.start(signal);
  const baseline = await measureLoads(targetOf(bare, barePort), `${profile}, bare server`, 1);
  const baselinePeakMb = bare.read().peakMb;
  await bare.stop();
  return {
    profile,
    policies,
    startSeconds,
    loads: results,
    baseline,
    comparison,
    rssMb,
    peakMb: Math.max(peakMb, ...peaksMb),
    baselinePeakMb,
    // Watches are renewed every few minutes.
    lists: total(Object.fromEntries(Object.entries(reads).filter(([what]) => !what.startsWith("watch ")))),
    ...common,
  };
}

interface Load {
  readonly title: string;
  readonly path: string;
  readonly atOnce: number;
  readonly review: (reviews: Reviews, index: number) => KnownReview;
}

/** The paths of the webhook, which are the same as upstream's. */
const paths = { validate: "/validating-custom-resource", mutate: "/mutating-custom-resource" } as const;

const creation = (reviews: Reviews, index: number) => reviews.creation(index);
const change = (reviews: Reviews, index: number) => reviews.change(index);

const loads: readonly Load[] = [1, 8].flatMap((atOnce) => {
  const title = (words: string) => (atOnce === 1 ? words : `${words}, ${atOnce} at once`);
  return [
    { title: title("new policy"), path: paths.validate, atOnce, review: creation },
    { title: title("changed policy"), path: paths.validate, atOnce, review: change },
    { title: title("new policy, defaults"), path: paths.mutate, atOnce, review: creation },
  ];
});

/** A server and a client that is connected to it. */
interface Target {
  readonly service: MeasuredService;
  readonly client: PlainClient;
  readonly reviews: Reviews;
  /** Number of reviews of each load. */
  readonly count: number;
  readonly run: Run;
}

/** Number of reviews before the measurement, in which connections are opened and code is compiled. */
const warmUp = 20;

/** Measures the latency of each review and the server's CPU time, of each load. */
async function measureLoads(target: Target, what: string, round: number): Promise<readonly LoadResult[]> {
  const { service, client, reviews, count, run } = target;
  const results: LoadResult[] = [];
  for (const { title, path, atOnce, review } of loads) {
    run.progress.at(`${what}: ${title}, round ${round}`);
    const times: number[] = [];
    let wrong = 0;
    const first = round * (count + warmUp);
    const send = (from: number, length: number) =>
      mapConcurrently([...Array(length).keys()], atOnce, async (index) => {
        run.signal.throwIfAborted();
        const { text, allowed } = review(reviews, first + from + index);
        const answer = await askReview(client, path, text);
        times.push(answer.ms);
        if (answer.allowed !== allowed) wrong += 1;
      });
    await send(0, warmUp);
    times.length = 0;
    const before = service.read().cpuSeconds;
    await send(warmUp, count);
    const cpuSeconds = ((service.read().cpuSeconds - before) / count) * 100;
    const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
    results.push({ title, atOnce, round, p50, p99, max: Math.max(...times), cpuSeconds, wrong });
  }
  return results;
}

/** More than any load sends. */
const mostAtOnce = 16;

const different = 96;
const times = 5;

/** Has no common divisor with `different`, so that every review is sent, and valid and invalid ones alternate irregularly. */
const stride = 37;

/**
 * Checks that concurrent reviews get the same answers as single ones. Upstream admits an invalid policy if it reviews a
 * valid one at the same time (sriov-operator.md M-26).
 */
async function compareAnswers({ client, reviews, run: { signal } }: Target): Promise<AnswerComparison> {
  const mixed = Array.from({ length: different }, (_, index) => reviews.mixed(index));
  const alone: ReviewAnswer[] = [];
  let wrong = 0;
  let otherWarnings = 0;
  for (const { text, allowed } of mixed) {
    signal.throwIfAborted();
    const answer = await askReview(client, paths.validate, text);
    alone.push(answer);
    if (answer.allowed !== allowed) wrong += 1;
  }
  const order = Array.from({ length: different * times }, (_, place) => (place * stride) % different);
  await mapConcurrently(order, mostAtOnce, async (index) => {
    signal.throwIfAborted();
    const answer = await askReview(client, paths.validate, mixed[index]?.text ?? "");
    if (answer.decision !== alone[index]?.decision) wrong += 1;
    if (answer.warnings !== alone[index]?.warnings) otherWarnings += 1;
  });
  return { reviews: different * (times + 1), wrong, otherWarnings };
}

/** Creates the objects that exist when the webhook starts. Returns the number of policies. */
async function fillCluster(name: ProfileName, options: WebhookOptions, run: Run, admin: PlainClient): Promise<number> {
  const profile = profiles[name];
  const count = options.nodes;
  await admin.create(sriovOperatorConfigs, { metadata: configMetadata, spec: {} });
  await forEachIndex(run, { what: "creating nodes", count }, (index) => admin.create(nodeType, nodeObject(index)));
  await forEachIndex(run, { what: "reporting their network cards", count }, async (index) => {
    const metadata = { name: nodeName(index), namespace: operatorNamespace };
    await admin.create(sriovNetworkNodeStates, { metadata });
    const status = reportedStatus(profile, index);
    await admin.merge(objectPath(sriovNetworkNodeStates, metadata, "status"), { status });
  });
  // As many policies as fit without overlap: 20 on six PFs, 10 on two.
  const policies = [firstPolicy(profile.numVfs), ...morePolicies(profile, profile.pfs > 2 ? 19 : 9)];
  run.progress.at("creating policies");
  await mapConcurrently(policies, 32, (policy) => admin.create(sriovNetworkNodePolicies, policy));
  const resources = policies.map(({ spec }) => spec.resourceName);
  await forEachIndex(run, { what: "creating pods", count: options.pods }, (index) =>
    admin.create(pods, podObject(index, count, resources)),
  );
  return policies.length;
}

/** One pod in this many has VFs. */
const podsPerUser = 5;

/** A pod of about 5 KB of JSON, as a typical Deployment creates. The webhook must keep almost nothing of it. */
function podObject(index: number, nodes: number, resources: readonly string[]) {
  const resource = index % podsPerUser === 0 ? resources[(index / podsPerUser) % resources.length] : undefined;
  const limits = { cpu: "500m", memory: "256Mi", ...(resource && { [`openshift.io/${resource}`]: "1" }) };
  return {
    metadata: {
      name: `pod-${index}`,
      namespace: "default",
      labels: { app: `app-${index % 50}`, "pod-template-hash": "6d4cf56db6", team: "red" },
      annotations: {
        "example.com/config-checksum": "0".repeat(64),
        ...(resource && { "k8s.v1.cni.cncf.io/networks": resource }),
      },
    },
    spec: {
      nodeName: nodeName(index % nodes),
      containers: ["main", "sidecar"].map((name, place) => ({
        name,
        image: `registry.example/team/${name}@sha256:${"0".repeat(64)}`,
        args: ["--config", "/etc/app/config.yaml", "--verbose"],
        env: Array.from({ length: 15 }, (_, variable) => ({
          name: `SETTING_${variable}`,
          value: `value of setting ${variable}`,
        })),
        resources: place === 0 ? { limits, requests: limits } : {},
        volumeMounts: [{ name: "config", mountPath: "/etc/app" }],
        livenessProbe: { httpGet: { path: "/healthz", port: 8080 }, periodSeconds: 10 },
      })),
      volumes: [{ name: "config", configMap: { name: `app-${index % 50}` } }],
      tolerations: [{ key: "example.com/dedicated", operator: "Exists", effect: "NoSchedule" }],
    },
  };
}
