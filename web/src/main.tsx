// The page: its bar, the theme, and which page the address names.
import { render } from 'preact';
import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Engine } from './engine/engine';
import { ExplainPage } from './pages/explain_page';
import { HardwarePage } from './pages/hardware_page';
import { ModelPage } from './pages/model_page';
import { ProfilePage } from './pages/profile_page';
import { ServingPage } from './pages/serving_page';
import { ShardingPage } from './pages/sharding_page';
import { TrainingPage } from './pages/training_page';
import { EngineContext } from './state/answer';
import type { Route } from './state/route';
import { useRoute } from './state/route';
import { StumbleGuard } from './parts/stumble_guard';
import { ThemeButton } from './parts/theme_button';
import './styles.css';

const PAGES: Record<string, { title: string; Page: FunctionComponent<{ route: Route }> }> = {
  model: { title: 'Model', Page: ModelPage },
  hardware: { title: 'Hardware', Page: HardwarePage },
  sharding: { title: 'Sharding', Page: ShardingPage },
  training: { title: 'Training', Page: TrainingPage },
  serving: { title: 'Serving', Page: ServingPage },
  profile: { title: 'Profile', Page: ProfilePage },
  explain: { title: 'Explain', Page: ExplainPage },
};

function Bar(props: { page: string }) {
  /* on a phone the pages are a row that slides */
  useEffect(() => document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), [props.page]);
  return (
    <header>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('main')?.focus(); }}>
        Skip to the answer
      </a>
      <span class="brand">Ridge</span>
      <nav aria-label="Pages">
        {Object.entries(PAGES).map(([name, page]) => (
          <a key={name} href={`#/${name}`} aria-current={name === props.page ? 'page' : undefined}>
            {page.title}
          </a>
        ))}
      </nav>
      <ThemeButton />
    </header>
  );
}

function useOpenEngine(): { engine?: Engine; error?: string } {
  const [state, setState] = useState<{ engine?: Engine; error?: string }>({});
  useEffect(() => {
    Engine.open().then(
      (engine) => setState({ engine }),
      (fault: unknown) => setState({ error: fault instanceof Error ? fault.message : String(fault) }),
    );
  }, []);
  return state;
}

function App() {
  const route = useRoute();
  const { engine, error } = useOpenEngine();
  const page = PAGES[route.page];
  const title = page?.title ?? 'No such page';
  useEffect(() => {
    document.title = `${title} · Ridge`;
  }, [title]);
  return (
    <EngineContext.Provider value={engine}>
      <Bar page={route.page} />
      <main id="main" tabIndex={-1}>
        {error && <p class="complaint" role="alert">Ridge could not start: {error}</p>}
        {!page && <h1>There is no page “{route.page}”</h1>}
        {engine && page && (
          <StumbleGuard key={route.page}>
            <page.Page route={route} />
          </StumbleGuard>
        )}
        {!engine && !error && <p class="quiet">Opening the library…</p>}
      </main>
    </EngineContext.Provider>
  );
}

const frame = document.getElementById('page');
if (frame) render(<App />, frame);
