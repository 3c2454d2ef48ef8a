//! What models are told beside the tools: the server's instructions, the way from a brainstorm to an approved plan,
//! the prompts. Every interface that speaks of these takes them from here.

/// What a model reads before it knows the tools. At most 2,000 characters: some hosts cut it there, and several show
/// the model only this and the tools' names at first.
pub const INSTRUCTIONS: &str = include_str!("texts/instructions.txt").trim_ascii_end();

/// What the four confirmed tools say about their confirmation.
pub const CONFIRMATION: &str = include_str!("texts/guard.txt").trim_ascii_end();

/// From a brainstorm to an approved plan.
#[derive(Debug)]
pub struct CaptureWorkflow {
    /// A few words.
    pub title: &'static str,
    /// In order.
    pub steps: &'static [&'static str],
    /// What each part of a plan's schema says about them.
    pub schema_descriptions: SchemaDescriptions,
}

/// The descriptions of `apply-plan`'s schema.
#[derive(Debug)]
pub struct SchemaDescriptions {
    /// The array.
    pub plan: &'static str,
    /// One entry of it.
    pub entry: &'static str,
    /// The preview.
    pub dry_run: &'static str,
}

/// The one text of the workflow.
pub const CAPTURE: CaptureWorkflow = CaptureWorkflow {
    title: "From a brainstorm to an approved plan",
    steps: &[
        "Brainstorm with the user. Read the roadmap first (read_goals), so that nothing is planned twice.",
        "Write the plan as one JSON array of {title, description?, group?, dependsOn?}, in the order the goals should have.",
        "Show the user that exact array and wait until they approve it. If it changes, show it again.",
        "A preview with dryRun: true is allowed at any time. It writes nothing and is never the user's approval.",
        "Apply the approved array by exactly one apply-plan call without dryRun, never by a sequence of add calls.",
    ],
    schema_descriptions: SchemaDescriptions {
        plan: "The exact JSON array that the user approved. All entries are added in this order by one write, or none.",
        entry: "One goal of the approved plan: {title, description?, group?, dependsOn?} and nothing else.",
        dry_run: "true answers what would be added and writes nothing: a preview, never the user's approval. Left out: applies the approved array, once.",
    },
};

impl CaptureWorkflow {
    /// The steps as a numbered list, one line each.
    #[must_use]
    pub fn numbered(&self) -> String {
        let lines: Vec<String> =
            self.steps.iter().enumerate().map(|(index, step)| format!("{}. {step}", index + 1)).collect();
        lines.join("\n")
    }
}

/// One prompt.
#[derive(Debug)]
pub struct Prompt {
    /// As it is asked for.
    pub name: &'static str,
    /// A few words.
    pub title: &'static str,
    /// One sentence.
    pub description: &'static str,
    /// The one argument it may be given, and what that is.
    pub argument: Option<(&'static str, &'static str)>,
}

/// Plans new goals.
pub const PLAN_ROADMAP: Prompt = Prompt {
    name: "plan_roadmap",
    title: "Plan the roadmap",
    description: "From a brainstorm to an approved plan of goals, applied by one write.",
    argument: Some(("topic", "What to plan. Left out: the model asks.")),
};

/// Says what to start.
pub const NEXT_GOAL: Prompt = Prompt {
    name: "next_goal",
    title: "What to start next",
    description: "The first ready goal with its context, and the rules for working on it.",
    argument: None,
};

/// Both, in the order in which they are listed.
pub const PROMPTS: [&Prompt; 2] = [&PLAN_ROADMAP, &NEXT_GOAL];

/// The text of [`PLAN_ROADMAP`].
#[must_use]
pub fn plan_roadmap(topic: Option<&str>) -> String {
    let topic = topic.map(str::trim).filter(|topic| !topic.is_empty());
    include_str!("texts/prompts/plan_roadmap.txt")
        .trim_ascii_end()
        .replace("{steps}", &CAPTURE.numbered())
        .replace("{topic}", &topic.map(|topic| format!(" What to plan: {topic}")).unwrap_or_default())
}

/// The text of [`NEXT_GOAL`], before the goal itself.
pub const NEXT_GOAL_RULES: &str = include_str!("texts/prompts/next_goal.txt").trim_ascii_end();
