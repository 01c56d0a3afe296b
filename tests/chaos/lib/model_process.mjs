// The model provider of model.mjs as a separate process.
import { serve } from './child_process.mjs';
import { startModel } from './model.mjs';

serve({ start: async (options) => (await startModel(options)).url });
