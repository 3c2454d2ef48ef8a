//! An envelope, with the assertions that tests make about it.

use serde_json::Value;

/// One envelope, as any interface gave it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer(pub Value);

impl Answer {
    /// The result of a success.
    ///
    /// # Panics
    /// When it is a failure.
    #[track_caller]
    pub fn result(&self) -> &Value {
        assert_eq!(self.0["ok"], Value::Bool(true), "expected a success, got {:#}", self.0);
        &self.0["result"]
    }

    /// The goal that a success is about.
    ///
    /// # Panics
    /// When it is a failure, or about no goal.
    #[track_caller]
    pub fn goal(&self) -> &Value {
        let goal = &self.result()["goal"];
        assert!(goal.is_object(), "expected a goal, got {:#}", self.0);
        goal
    }

    /// The id of that goal.
    ///
    /// # Panics
    /// As [`Answer::goal`].
    #[track_caller]
    pub fn id(&self) -> &str {
        self.goal()["id"].as_str().expect("a goal has an id")
    }

    /// A text field of that goal.
    ///
    /// # Panics
    /// As [`Answer::goal`], and when the field is absent.
    #[track_caller]
    pub fn text(&self, field: &str) -> &str {
        self.goal()[field].as_str().unwrap_or_else(|| panic!("no {field} in {:#}", self.0))
    }

    /// The ids of the goals in `result.goals`, in their order.
    ///
    /// # Panics
    /// When it is a failure, or has no such list.
    #[track_caller]
    pub fn ids(&self) -> Vec<String> {
        let goals = self.result()["goals"].as_array().unwrap_or_else(|| panic!("no goals in {:#}", self.0));
        goals.iter().map(|goal| goal["id"].as_str().expect("a goal has an id").to_owned()).collect()
    }

    /// The ids in each of `result.waves`.
    ///
    /// # Panics
    /// When it is a failure, or has no waves.
    #[track_caller]
    pub fn waves(&self) -> Vec<Vec<String>> {
        let waves = self.result()["waves"].as_array().unwrap_or_else(|| panic!("no waves in {:#}", self.0));
        let id = |goal: &Value| goal["id"].as_str().expect("a goal has an id").to_owned();
        waves
            .iter()
            .map(|wave| wave.as_array().expect("a wave is an array").iter().map(id).collect())
            .collect()
    }

    /// The error of a failure of this kind.
    ///
    /// # Panics
    /// When it is a success, or a failure of another kind.
    #[track_caller]
    pub fn refused(&self, code: &str) -> &Value {
        assert_eq!(self.0["ok"], Value::Bool(false), "expected {code}, got {:#}", self.0);
        assert_eq!(self.0["error"]["code"], code, "in {:#}", self.0);
        &self.0["error"]
    }

    /// Asserts a failure of this kind with this `details.resolution`, and gives its details.
    ///
    /// # Panics
    /// When it is anything else.
    #[track_caller]
    pub fn refused_with(&self, code: &str, resolution: &str) -> &Value {
        let details = &self.refused(code)["details"];
        assert_eq!(details["resolution"], resolution, "in {:#}", self.0);
        details
    }

    /// The facts beside the answer.
    pub fn meta(&self) -> &Value {
        &self.0["meta"]
    }

    /// The file's revision, where the file was read.
    pub fn revision(&self) -> Option<u64> {
        self.meta()["revisions"]["project"].as_str()?.parse().ok()
    }

    /// Whether the file was written.
    pub fn changed(&self) -> bool {
        self.meta()["changed"] == Value::Bool(true)
    }
}
