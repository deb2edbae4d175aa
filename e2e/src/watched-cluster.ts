// SPDX-License-Identifier: Apache-2.0
/**
 * startWatchedCluster starts a test cluster with a SriovOperatorConfig and watches its node states and policies.
 * Usage: `await using watched = await startWatchedCluster(); const { testCluster, news } = watched;`
 */
import {
  createOperatorConfig,
  silentNarrator,
  startTestCluster,
  watchNews,
  type News,
  type TestCluster,
} from "@switchyard/test-cluster";

/** A test cluster and its watches. Disposing it ends both. */
export interface WatchedCluster extends AsyncDisposable {
  readonly testCluster: TestCluster;
  readonly news: News;
}

/** Rejects if the cluster cannot be started. */
export async function startWatchedCluster(): Promise<WatchedCluster> {
  const testCluster = await startTestCluster(silentNarrator);
  await createOperatorConfig(testCluster);
  const news = testCluster.use(watchNews(testCluster.transport, silentNarrator));
  return { testCluster, news, [Symbol.asyncDispose]: () => testCluster[Symbol.asyncDispose]() };
}
